// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Storage
import TestSupport
import Testing

@testable import Outbox

/// Downloads whose process is killed in the middle.
@Suite struct DownloadKillTests {
    private let folder: ScratchFolder
    private let fetched: ScratchFolder
    private let origin: TestSupport.Origin
    private let account = OutboxLab.account()

    init() async throws {
        folder = try ScratchFolder("reach-fetch-kill")
        fetched = try ScratchFolder("reach-fetched")
        origin = try await Origin.shared
    }

    /// - Parameter descriptors: how many more are open, so that those of the program have other numbers.
    private func drill(
        _ url: String, sha256: String = "", bytes: Int = 0, descriptors: Int = 0, mirrors: [String] = []
    ) async throws -> ProgramResult {
        let more = (3..<3 + descriptors).map { " \($0)</dev/null" }.joined()
        return try await origin.run(
            [
                "sh", "-c", "exec \"$@\"\(more)", "sh", "env", "no_proxy=*",
                BuiltProgram.path("outbox-drill"), "fetch", folder("outbox"), url,
                fetched("file"), sha256, "\(bytes)",
            ] + mirrors)
    }

    private var content: [UInt8]? {
        (try? Data(contentsOf: URL(filePath: fetched("file")))).map { Array($0) }
    }

    @Test(
        "OBX-330 The next process resumes a killed download: it asks for the rest alone, and leaves nothing beside the file",
        arguments: [true, false])
    func resumed(_ isChecked: Bool) async throws {
        let bytes = OriginContent.bytes(0..<400_000)
        let url = origin.faultURL("/fault/stall?n=400000&after=150000&times=1&key=\(account)")
        let sum = isChecked ? try DownloadLab.sum(bytes) : ""
        let first = try await drill(url, sha256: sum, bytes: 150_000)
        #expect(first.status == .killed(signal: SIGKILL), "\(first.text) \(first.errors)")
        #expect(fetched.names.count == 2 && fetched.names.allSatisfy { $0.hasPrefix(".reach-fetch-") })
        let second = try await drill(url, sha256: sum, descriptors: 5)
        #expect(second.text == "taken 1\ntold \(fetched("file")) 400000\nsent 1\ndone\n", "\(second.errors)")
        #expect(content == bytes && fetched.names == ["file"])
        let sent = try await origin.statistics(account).sent
        #expect(sent == 400_000, "150,000 and the rest, not \(sent)")
    }

    @Test("OBX-332 A mirror continues what another server gave before it broke off")
    func mirrored() async throws {
        let bytes = OriginContent.bytes(0..<400_000)
        let other = OutboxLab.account()
        let end = try await drill(
            origin.faultURL("/fault/cut?n=400000&after=50000&kind=close&key=\(account)"),
            sha256: try DownloadLab.sum(bytes), mirrors: [origin.url("/range/400000?key=\(other)")])
        #expect(end.text.contains("told \(fetched("file")) 400000\n"), "\(end.text) \(end.errors)")
        #expect(content == bytes && fetched.names == ["file"])
        let (here, there) = (
            try await origin.statistics(account).sent, try await origin.statistics(other).sent
        )
        #expect(here == 150_000 && there == 250_000, "\(here) and \(there)")
    }

    /// Fetches 150,000 bytes of 400,000, is killed, and finds zeros instead, as many as the whole has.
    private func spoil(_ url: String, _ sum: String, _ mirrors: [String] = []) async throws {
        let first = try await drill(url, sha256: sum, bytes: 150_000, mirrors: mirrors)
        #expect(first.status == .killed(signal: SIGKILL), "\(first.text) \(first.errors)")
        let part = try #require(fetched.names.first { !$0.hasSuffix(".resume") })
        try Data(repeating: 0, count: 400_000).write(to: URL(filePath: fetched(part)))
    }

    @Test("OBX-348 What was fetched and was spoiled since is fetched again")
    func spoiled() async throws {
        let bytes = OriginContent.bytes(0..<400_000)
        let sum = try DownloadLab.sum(bytes)
        let url = origin.faultURL("/fault/stall?n=400000&after=150000&times=1&key=\(account)")
        try await spoil(url, sum)
        let second = try await drill(url, sha256: sum)
        #expect(second.text.hasSuffix("told \(fetched("file")) 400000\nsent 1\ndone\n"), "\(second.text)")
        #expect(content == bytes && fetched.names == ["file"])
    }

    @Test("OBX-349 A URL that was not asked is not struck for the spoiled content of another")
    func spoiledByOther() async throws {
        let bytes = OriginContent.bytes(0..<400_000)
        let sum = try DownloadLab.sum(bytes)
        // The first URL fails twice; the mirror's second content is another, for which it is struck.
        let url = origin.faultURL("/fault/cut?n=400000&after=0&times=2&kind=rst&key=\(account)")
        let mirror = origin.faultURL(
            "/fault/stall?n=400000&after=150000&times=1&change=1&key=\(OutboxLab.account())")
        try await spoil(url, sum, [mirror])
        let second = try await drill(url, sha256: sum, mirrors: [mirror])
        #expect(second.text.hasSuffix("told \(fetched("file")) 400000\nsent 1\ndone\n"), "\(second.text)")
        #expect(content == bytes && fetched.names == ["file"])
        #expect(try await origin.count(account) == 3)
    }

    @Test(
        "OBX-334 A file is the old one or the new one, whole, whenever a process is killed; nothing is left beside it"
    )
    func kills() async throws {
        let script =
            "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/Outbox/fetch"
        let result = try await origin.run([
            "/usr/bin/python3", "-B", script, BuiltProgram.path("outbox-drill"), "--folder", folder("work"),
            "--rounds", "8", "--seed", "3",
        ])
        #expect(result.status == .exited(0), "\(result.text) \(result.errors)")
    }

    @Test("OBX-333 Killed between the last byte and the file's name: the next process asks for nothing")
    func complete() async throws {
        let bytes = OriginContent.bytes(0..<100_000)
        let url = origin.url("/bytes/100000?key=\(account)")
        let lab = try await DownloadLab()
        let outbox = try await lab.open { [fetched] in $0.limits.downloadFolders = [fetched.path] }
        let receipt = try await outbox.enqueue(
            .download(try URL(spoken: url), to: fetched("file"), sha256: try DownloadLab.sum(bytes)))
        let stored = try await outbox.read { (tables) throws(StorageError) in try tables.download(receipt.id)
        }
        let part = try #require(stored).part
        try Data(bytes).write(to: URL(filePath: fetched(part)))
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.lab.delivered(receipt.id)
        #expect(content == bytes && fetched.names == ["file"])
        #expect(try await origin.count(account) == 0)
        await outbox.close()
    }
}
