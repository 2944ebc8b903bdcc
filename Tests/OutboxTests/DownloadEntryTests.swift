// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import SessionManager
import Synchronization
import TestSupport
import Testing

@testable import Outbox

/// Entries whose answers become files.
@Suite struct DownloadEntryTests {
    private let lab: DownloadLab

    init() async throws { lab = try await DownloadLab() }

    @Test(
        "OBX-310 A file is put in its place whole, with its mode; the program is told before the entry leaves, and the result is kept"
    )
    func placed() async throws {
        let bytes = OriginContent.bytes(0..<100_000)
        let seen = EventLog<Int>()
        let opened = Mutex<RequestOutbox?>(nil)
        let outbox = try await lab.open { [reports = lab.reports] configuration in
            configuration.downloadHandler = { file in
                seen.append((try? await opened.withLock { $0 }?.entries().count) ?? -1)
                reports.append(file)
                return true
            }
        }
        opened.withLock { $0 = outbox }
        var request = try lab.request("/bytes/100000", sha256: lab.sum(bytes).uppercased())
        request.download?.mode = 0o640
        let receipt = try await outbox.enqueue(request)
        let entry = try #require(try await outbox.entry(receipt.id))
        #expect(entry.method == "GET" && entry.file == lab.folder("file") && entry.lane == "downloads")
        #expect(lab.folder.names == [])
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.lab.delivered(receipt.id)
        #expect(lab.content() == bytes && lab.folder.names == ["file"])
        let rights = try FileManager.default.attributesOfItem(atPath: lab.folder("file"))[.posixPermissions]
        #expect(rights as? Int == 0o640)
        #expect(seen.elements == [1])
        #expect(
            lab.reports.elements == [
                FetchedFile(
                    id: receipt.id, path: lab.folder("file"),
                    url: try lab.url("/bytes/100000").absoluteString,
                    sha256: try lab.sum(bytes), bytes: 100_000)
            ])
        let result = try await outbox.result(of: receipt.id)
        #expect(result?.outcome == .delivered && result?.file == lab.folder("file"))
        #expect(result?.fileSize == 100_000 && result?.reply?.statusCode == 200)
        // The same content is not fetched again, and gets the mode that is wanted now.
        request.download?.mode = 0o600
        let again = try await outbox.enqueue(request)
        try await lab.lab.delivered(again.id)
        #expect(try await lab.lab.origin.count(lab.account) == 1)
        let now = try FileManager.default.attributesOfItem(atPath: lab.folder("file"))[.posixPermissions]
        #expect(now as? Int == 0o600)
        await outbox.close()
        // Its handler has it.
        opened.withLock { $0 = nil }
    }

    @Test(
        "OBX-311 Content with another checksum is thrown away: the next URL is asked, and without one the entry is given up; a retry asks again"
    )
    func wrongChecksum() async throws {
        let sum = try lab.sum(OriginContent.bytes(0..<50_000))
        let outbox = try await lab.open()
        try await outbox.startDelivery(with: OutboxLab.manager())
        let mirrored = try await outbox.enqueue(
            lab.request(
                "/range/50000?v=2", to: "mirrored", sha256: sum, mirrors: [try lab.url("/range/50000?v=1")]))
        try await lab.lab.delivered(mirrored.id)
        #expect(lab.content("mirrored") == OriginContent.bytes(0..<50_000))
        let before = try await lab.lab.origin.count(lab.account)
        let wrong = try await outbox.enqueue(
            lab.request(
                "/range/50000?v=2", to: "wrong", sha256: sum, mirrors: [try lab.url("/range/50000?v=3")]))
        let failure = try await lab.died(wrong.id)
        #expect(failure.kind == .refused && failure.message.contains("instead of \(sum)"), "\(failure)")
        #expect(try await lab.lab.origin.count(lab.account) == before + 2)
        #expect(lab.folder.names == ["mirrored"])
        #expect(try await outbox.entry(wrong.id)?.file == lab.folder("wrong"))
        try await outbox.retry([wrong.id])
        _ = try await lab.lab.wait { event -> Bool? in if case .retried = event { true } else { nil } }
        #expect(try await lab.lab.origin.wait(for: lab.account, [.count: before + 4]).count == before + 4)
        await outbox.close()
    }

    @Test(
        "OBX-312 A URL that answers 404 or 410 is asked once; each of them done, the entry is given up, and none is asked for ever",
        arguments: [404, 410])
    func gone(_ status: Int) async throws {
        let outbox = try await lab.open()
        try await outbox.startDelivery(with: OutboxLab.manager())
        let alone = try await outbox.enqueue(lab.request("/status/\(status)?n=1", to: "alone"))
        #expect(try await lab.died(alone.id).statusCode == status)
        #expect(try await lab.lab.origin.count(lab.account) == 1)
        // The second fails for a while; only that one is asked again.
        let mirrors = [try lab.url("/retry-after?times=2&status=503")]
        let other = try await outbox.enqueue(
            lab.request("/status/\(status)?n=2", to: "other", mirrors: mirrors))
        try await lab.lab.delivered(other.id)
        let requests = try await lab.lab.origin.statistics(lab.account).requests
        #expect(requests.count { $0.contains("/status/\(status)?n=2") } == 1, "\(requests)")
        #expect(requests.count { $0.contains("/retry-after") } == 3, "\(requests)")
        #expect(lab.folder.names == ["other"])
        await outbox.close()
    }

    @Test("OBX-313 A file above the limit is given up without being written")
    func tooLarge() async throws {
        let outbox = try await lab.open { $0.limits.maximumDownloadSize = 10_000 }
        try await outbox.startDelivery(with: OutboxLab.manager())
        for path in ["/bytes/10001", "/chunked/10001"] {
            let receipt = try await outbox.enqueue(lab.request(path))
            let failure = try await lab.died(receipt.id)
            #expect(failure.message.contains("outbox.fetch.bytes"), "\(failure)")
        }
        let fits = try await outbox.enqueue(lab.request("/bytes/10000"))
        try await lab.lab.delivered(fits.id)
        #expect(lab.folder.names == ["file"])
        await outbox.close()
    }

    @Test(
        "OBX-314 A gate that is held stops a running download, and it goes on from where it was; what is removed leaves no part"
    )
    func interrupted() async throws {
        let outbox = try await lab.open()
        let other = try await lab.open()
        try await outbox.startDelivery(with: OutboxLab.manager())
        var request = try lab.request("/fault/stall?n=400000&after=150000&times=1", fault: true)
        request.gates = ["maintenance"]
        let receipt = try await outbox.enqueue(request)
        try await lab.part(of: 150_000)
        // By another process, as a script does it.
        try await other.hold(gate: "maintenance")
        _ = try await lab.lab.origin.wait(for: lab.account, [.active: 0])
        #expect(try await outbox.entry(receipt.id)?.hold == "gate maintenance is held")
        #expect(try await outbox.entry(receipt.id)?.attempts == 0)
        try await other.release(gate: "maintenance")
        try await lab.lab.delivered(receipt.id)
        #expect(lab.content() == OriginContent.bytes(0..<400_000))
        #expect(try await lab.lab.origin.statistics(lab.account).sent < 400_000 + 150_000)

        let second = try await outbox.enqueue(
            lab.request("/fault/stall?n=400000&after=150000&n2=1", to: "second", fault: true))
        try await lab.part(of: 150_000)
        try await other.remove([second.id])
        try await lab.names(["file"])
        await other.close()
        await outbox.close()
    }

    @Test(
        "OBX-315 A program that was not told is told again, also by the next process, and the file is not fetched again"
    )
    func reportedAgain() async throws {
        let first = EventLog<FetchedFile>()
        let outbox = try await lab.open {
            $0.downloadHandler = { file in
                first.append(file)
                return false
            }
            $0.retries.slow = .seconds(3_600)
        }
        let receipt = try await outbox.enqueue(lab.request("/bytes/1000"))
        try await outbox.startDelivery(with: OutboxLab.manager())
        let reason = try await lab.lab.wait { event -> String? in
            if case .postponed(_, let reason, _) = event { reason } else { nil }
        }
        #expect(reason == "the file is there, and its program has not been told yet")
        #expect(try await outbox.entry(receipt.id)?.hold == reason)
        await outbox.close()
        // Its program may have moved the file away by then.
        #expect(unlink(lab.folder("file")) == 0)
        let next = try await lab.open()
        try await next.startDelivery(with: OutboxLab.manager())
        try await lab.lab.delivered(receipt.id)
        #expect(lab.reports.elements.map(\.bytes) == [1_000] && lab.folder.names == [])
        #expect(try await lab.lab.origin.count(lab.account) == 1)
        await next.close()
    }

    @Test("OBX-316 A secret goes to the server of the first URL alone, and to no mirror or redirect")
    func secrets() async throws {
        // A variable that is there, since tests may not set one (packaging/checks/calls).
        let secret = String(cString: try #require(getenv("PATH")))
        let outbox = try await lab.open()
        try await outbox.startDelivery(with: OutboxLab.manager())
        var request = try lab.request("/status/404?n=1", mirrors: [try lab.url("/headers", fault: true)])
        request.secretFields = [SecretField(name: "X-Token", source: "env", key: "PATH")]
        let receipt = try await outbox.enqueue(request)
        try await lab.lab.delivered(receipt.id)
        let text = String(decoding: try #require(lab.content()), as: UTF8.self)
        #expect(!text.contains(secret), "\(text)")
        var own = try lab.request("/headers", to: "own")
        own.secretFields = request.secretFields
        try await lab.lab.delivered(try await outbox.enqueue(own).id)
        #expect(String(decoding: try #require(lab.content("own")), as: UTF8.self).contains(secret))
        await outbox.close()
    }

    @Test(
        "OBX-317 A download with the key of another one is repeated if it wants the same, and refused if not")
    func keys() async throws {
        let outbox = try await lab.open()
        var request = try lab.request("/bytes/10")
        request.idempotencyKey = "k"
        let first = try await outbox.enqueue(request)
        #expect(try await outbox.enqueue(request).isRepeated)
        request.download?.path = lab.folder("elsewhere")
        let error = await #expect(throws: OutboxError.self) { try await outbox.enqueue(request) }
        #expect(error?.code == .keyTaken)
        request.download = nil
        await #expect(throws: OutboxError.self) { try await outbox.enqueue(request) }
        // A newer one takes its place.
        var named = try lab.request("/bytes/11", to: "named")
        named.replaces = "map"
        let older = try await outbox.enqueue(named)
        let newer = try await outbox.enqueue(named)
        #expect(newer.replaced == [older.id])
        #expect(try await outbox.entry(older.id)?.successor == newer.id)
        #expect(try await outbox.entry(first.id)?.successor == nil)
        await outbox.close()
    }

    @Test("OBX-318 Another process stores a download within the limits that the delivering one has stored")
    func storedLimits() async throws {
        let outbox = try await lab.open()
        try await outbox.storeLimits()
        let other = try await lab.lab.open { $0.usesStoredLimits = true }
        #expect(other.limits.downloadFolders == [lab.folder.path])
        let receipt = try await other.enqueue(lab.request("/bytes/10"))
        await #expect(throws: OutboxError.self) {
            try await other.enqueue(.download(try lab.url("/bytes/10"), to: "/etc/reach-test"))
        }
        try await outbox.startDelivery(with: OutboxLab.manager())
        try await lab.lab.delivered(receipt.id)
        // The folder is no longer permitted when its turn comes.
        outbox.limits.downloadFolders = ["/nowhere"]
        // It has the new limits when it answers.
        _ = try await outbox.entry(receipt.id)
        let late = try await other.enqueue(lab.request("/bytes/10", to: "late"))
        #expect(try await lab.died(late.id).kind == .unsendable)
        #expect(lab.folder.names == ["file"])
        await other.close()
        await outbox.close()
    }
}

extension DownloadLab {
    func sum(_ bytes: [UInt8]) throws -> String { try Self.sum(bytes) }
}
