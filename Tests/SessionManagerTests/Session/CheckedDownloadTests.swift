// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Downloads whose checksum is known beforehand.
struct CheckedDownloadTests {
    /// Of the origin's first 100,000 bytes.
    private func sum() throws -> String {
        var digest = try SHA256Digest()
        OriginContent.bytes(0..<100_000).withUnsafeBytes { digest.update($0) }
        return SHA256Digest.text(digest.finish())
    }

    @Test("API-050 content with the right checksum is put where it belongs, capitals or not")
    func right() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let sum = try sum()
        for (name, sum) in [("a", sum), ("b", sum.uppercased())] {
            _ = try await lab.manager.download(
                lab.request("/bytes/100000"), to: DownloadDestination(folder(name), sha256: sum))
        }
        #expect(folder.names == ["a", "b"])
    }

    @Test("API-051 content with another checksum is put nowhere, and nothing stays to continue it from")
    func wrong() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let sum = String(repeating: "0", count: 64)
        let destination = DownloadDestination(folder("file"), sha256: sum)
        let options = TaskOptions { $0.resumeFile = folder("resume") }
        let task = try lab.manager.downloadTask(
            with: lab.request("/bytes/100000"), options: options, destination: .file(destination))
        task.resume()
        let outcome = await task.outcome()
        #expect(outcome.error?.code == .checksumMismatch)
        #expect(outcome.error?.message == "the content has the SHA-256 \(try self.sum()) instead of \(sum)")
        #expect(outcome.filePath == nil && outcome.resumeRecord == nil)
        #expect(folder.names == [])
    }

    @Test("API-052 a text that is no checksum fails before anything is sent", arguments: ["", "abc", "x"])
    func noChecksum(_ text: String) async throws {
        let lab = try await Lab()
        let key = "api-052-\(text.count)"
        let sum = text == "x" ? String(repeating: "x", count: 64) : text
        await #expect {
            _ = try await lab.manager.download(
                lab.request("/bytes/10?key=\(key)"), to: DownloadDestination("/nowhere", sha256: sum))
        } throws: {
            ($0 as? SessionError)?.advice == "give the 64 hexadecimal digits that sha256sum(1) prints"
        }
        #expect(try await TestSupport.Origin.shared.count(key) == 0)
    }

    @Test(
        "API-053 a destination that is chosen at the end is checked too; a trailing closure is the completion"
    )
    func chosen() async throws {
        let lab = try await Lab()
        let folder = try ScratchFolder()
        let (path, sum) = (folder("file"), try sum())
        let box = Box<Finished>()
        let task = try lab.manager.downloadTask(
            with: lab.request("/bytes/100000"),
            destination: .chosen { _, response in
                DownloadDestination(path, sha256: response.statusCode == 200 ? sum : nil)
            }
        ) { box.put(Finished(response: $0, object: $1, error: $2)) }
        task.resume()
        #expect(await box.value.object as? String == path)
        let wrong = try lab.manager.downloadTask(
            with: lab.request("/bytes/100000"),
            destination: .chosen { [folder] _, _ in
                DownloadDestination(folder("wrong"), sha256: String(repeating: "0", count: 64))
            })
        wrong.resume()
        #expect(await wrong.outcome().error?.code == .checksumMismatch)
        #expect(folder.names == ["file"])
        let plain = Box<Finished>()
        let other = try lab.manager.downloadTask(with: lab.request("/bytes/10")) {
            plain.put(Finished(response: $0, object: $1, error: $2))
        }
        other.resume()
        let temporary = try #require(await plain.value.object as? String)
        try FileManager.default.removeItem(atPath: temporary)
    }
}
