// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Paths that the kernel would end at a NUL: another file than the one that was meant.
struct PathTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    /// A path with a NUL behind the name of a file that is there.
    private func path() throws -> String {
        try Data("content".utf8).write(to: URL(filePath: folder("file")))
        return folder("file\0.png")
    }

    private func expectRefusal(_ error: SessionError?) {
        #expect(error?.code == .cannotOpenFile, "\(String(describing: error))")
        #expect(error?.message.contains("has a NUL character in it") == true)
        #expect(folder.names == ["file"])
    }

    private func expectRefusal(_ body: () throws -> Void) {
        do {
            try body()
            Issue.record("nothing was refused")
        } catch {
            expectRefusal(error as? SessionError)
        }
    }

    @Test("UPL-544 a download goes to no path with a NUL", arguments: ["known", "chosen", "part", "record"])
    func download(_ kind: String) async throws {
        let (lab, path) = (try await Lab(), try path())
        var options = TaskOptions()
        let wanted = DownloadDestination(path, replacesExisting: true)
        var placement: DownloadPlacement?
        switch kind {
        case "known": placement = .file(wanted)
        case "chosen": placement = .chosen { _, _ in wanted }
        case "part": options.partialFile = path
        default: options.resumeFile = path
        }
        let task = try lab.manager.downloadTask(
            with: lab.request("/bytes/100"), options: options, destination: placement)
        task.resume()
        expectRefusal(await task.outcome().error)
        #expect(try Data(contentsOf: URL(filePath: folder("file"))) == Data("content".utf8))
    }

    @Test("UPL-544 no file is sent from a path with a NUL")
    func upload() async throws {
        let (lab, path) = (try await Lab(), try path())
        let sent = try lab.manager.uploadTask(with: lab.request("/upload", .put), fromFile: path)
        sent.resume()
        expectRefusal(await sent.outcome().error)
        do {
            var form = MultipartFormData()
            try form.appendFile(path, name: "file")
            Issue.record("the file was taken")
        } catch {
            expectRefusal(error.underlying as? SessionError)
        }
        let request = try lab.request("/upload", .put, body: .data(Data("body".utf8)))
        expectRefusal { _ = try request.writingBody(toFile: path, replacing: true) }
    }

    @Test("UPL-544 no setting names a file by a path with a NUL")
    func settings() async throws {
        let path = try path()
        expectRefusal { _ = try HSTSStore(file: path) }
        expectRefusal { _ = try SecurityPolicy(pinningMode: .certificate, certificatesInFile: path) }
        expectRefusal { _ = try SecurityPolicy(pinningMode: .certificate, certificatesInDirectory: path) }
        let lab = try await Lab { $0.alternativeServices = path }
        expectRefusal(try await lab.run(lab.request("/get")).error)
    }
}
