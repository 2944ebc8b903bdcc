// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import HTTPTypes
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Outbox

@Suite struct StoringTests {
    let lab: OutboxLab
    init() throws { lab = try OutboxLab() }

    private let url = "http://127.0.0.1:1/x"

    @Test("What was taken is there for the next who opens it, for this user alone")
    func persistence() async throws {
        let first = try await lab.open()
        var request = try OutboxRequest(to: url, lane: "a", priority: 7, body: .data(Data("content".utf8)))
        request.headerFields[.contentType] = "text/plain"
        request.networkCondition = .wiredOnly
        request.expires = Date(timeIntervalSince1970: 4e9)
        let receipt = try await first.enqueue(request)
        #expect(receipt.idempotencyKey.utf8.count == 32 && !receipt.isRepeated)
        // The first outbox was not closed, as after a kill.
        let entry = try #require(try await lab.open().entry(receipt.id) as OutboxEntry?)
        #expect(entry.lane == "a" && entry.priority == 7 && entry.method == "POST" && entry.url == url)
        #expect(entry.networkCondition == .wiredOnly && entry.bodySize == 7 && entry.state == .waiting)
        #expect(
            entry.expires == Date(timeIntervalSince1970: 4e9)
                && entry.idempotencyKey == receipt.idempotencyKey)
        for (name, mode) in [
            ("outbox.sqlite", 0o600), ("outbox.sqlite-wal", 0o600), ("outbox.bodies", 0o700), ("", 0o700),
        ] {
            var status = stat()
            #expect(lstat(lab.path + "/" + name, &status) == 0)
            #expect(Int(status.st_mode & 0o777) == mode, "\(name)")
        }
    }

    @Test("OBX-137 A task that prefers the thread that stores is there after each request")
    func storageExecutor() async throws {
        let outbox = try await lab.open()
        let thread = Mutex<pthread_t?>(nil)
        let observation = outbox.observe { _ in thread.withLock { $0 = pthread_self() } }
        defer { observation.cancel() }
        try await withTaskExecutorPreference(outbox.storageExecutor) {
            for _ in 0..<3 {
                try await outbox.enqueue(OutboxRequest(to: url))
                #expect(pthread_self() == thread.withLock { $0 })
            }
        }
        #expect(pthread_self() != thread.withLock { $0 })
        #expect(try await outbox.counts().waiting == 3)
    }

    @Test("Large contents are files, which go with their entries; small ones are not")
    func bodies() async throws {
        let outbox = try await lab.open()
        let paths = OutboxPaths(folder: lab.path)
        let small = try await outbox.enqueue(
            OutboxRequest(to: url, body: .data(Data(repeating: 1, count: PreparedEntry.largestInline))))
        #expect(try FileManager.default.contentsOfDirectory(atPath: paths.bodies).isEmpty)
        let source = lab.folder("source")
        let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try content.write(to: URL(filePath: source))
        let large = try await outbox.enqueue(OutboxRequest(to: url, body: .file(path: source)))
        unlink(source)
        let names = try FileManager.default.contentsOfDirectory(atPath: paths.bodies)
        #expect(names.count == 1)
        #expect(try Data(contentsOf: URL(filePath: paths.body(names[0]))) == content)
        #expect(try await outbox.counts().bytes == 200_000 + Int64(PreparedEntry.largestInline))
        #expect(try await outbox.remove([small.id, large.id, large.id]) == [small.id, large.id])
        #expect(try FileManager.default.contentsOfDirectory(atPath: paths.bodies).isEmpty)
        #expect(try await outbox.counts() == OutboxCounts())
        #expect(try await outbox.result(of: large.id)?.outcome == .removed)
    }

    @Test("OBX-078 Closing closes the files, though the outbox is still there, and leaves no log")
    func closing() async throws {
        let outbox = try await lab.open()
        try await outbox.enqueue(OutboxRequest(to: url, body: .data(Data(repeating: 1, count: 70_000))))
        try await outbox.pause()
        try await outbox.startDelivery(with: OutboxLab.manager())
        await outbox.close()
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        #expect(open.filter { $0.hasPrefix(lab.path + "/") } == [])
        #expect(access(lab.path + "/outbox.sqlite-wal", F_OK) != 0)
        let error = await #expect(throws: OutboxError.self) { try await outbox.counts() }
        #expect(error?.code == .closed)
    }

    @Test("What interrupted processes have left behind is swept up, and nothing else")
    func sweeping() async throws {
        let outbox = try await lab.open()
        let paths = OutboxPaths(folder: lab.path)
        try await outbox.enqueue(OutboxRequest(to: url, body: .data(Data(repeating: 1, count: 70_000))))
        let kept = try FileManager.default.contentsOfDirectory(atPath: paths.bodies)
        for name in ["orphan", "begun.part"] {
            try Data("x".utf8).write(to: URL(filePath: paths.body(name)))
        }
        let staged = try BodyFolder(paths: paths).stage(Data("somebody is at it".utf8))
        try await outbox.pause()
        try await outbox.startDelivery(with: OutboxLab.manager())
        let left = try FileManager.default.contentsOfDirectory(atPath: paths.bodies).sorted()
        #expect(left == (kept + [staged.name + ".part"]).sorted())
        withExtendedLifetime(staged) {}
        await outbox.close()
    }

    @Test("The same key is taken once")
    func keys() async throws {
        let outbox = try await lab.open()
        var request = try OutboxRequest(to: url)
        request.headerFields[.idempotencyKey] = "mine"
        let first = try await outbox.enqueue(request)
        #expect(first.idempotencyKey == "mine")
        let again = try await outbox.enqueue(request)
        #expect(again.isRepeated && again.id == first.id)
        #expect(try await outbox.counts().waiting == 1)
        await #expect(throws: OutboxError.self) {
            var bad = request
            bad.idempotencyKey = "two words"
            try await outbox.enqueue(bad)
        }
    }

    @Test("A batch is taken as a whole or not at all")
    func batches() async throws {
        let outbox = try await lab.open { $0.limits.maximumEntries = 10 }
        let receipts = try await outbox.enqueue((0..<8).map { try OutboxRequest(to: url, lane: "\($0 % 3)") })
        #expect(
            receipts.map(\.id) == receipts.map(\.id).sorted()
                && Set(receipts.map(\.idempotencyKey)).count == 8)
        let error = await #expect(throws: OutboxError.self) {
            try await outbox.enqueue((0..<3).map { _ in try OutboxRequest(to: url) })
        }
        #expect(error?.code == .full)
        #expect(try await outbox.counts().waiting == 8)
        #expect(try await outbox.entries().count == 8)
        try await outbox.enqueue((0..<2).map { _ in try OutboxRequest(to: url) })
        #expect(try await outbox.counts().waiting == 10)
    }

    @Test("With that policy the oldest entry is dropped, with its content")
    func dropping() async throws {
        let outbox = try await lab.open {
            $0.limits.maximumEntries = 3
            $0.limits.policy = .dropOldest
        }
        let large = try await outbox.enqueue(
            OutboxRequest(to: url, body: .data(Data(repeating: 1, count: 70_000))))
        for _ in 0..<3 { try await outbox.enqueue(OutboxRequest(to: url)) }
        #expect(try await outbox.entry(large.id) == nil)
        #expect(try await outbox.result(of: large.id)?.outcome == .dropped)
        let counts = try await outbox.counts()
        #expect(counts.waiting == 3 && counts.bytes == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: OutboxPaths(folder: lab.path).bodies).isEmpty
        )
    }

    @Test("Lists go in pages, by state and by lane")
    func lists() async throws {
        let outbox = try await lab.open()
        try await outbox.enqueue(
            (0..<10).map { try OutboxRequest(to: url, lane: $0 % 2 == 0 ? "even" : "odd") })
        let page = try await outbox.entries(limit: 4)
        #expect(page.map(\.id.rawValue) == [1, 2, 3, 4])
        #expect(try await outbox.entries(after: page.last?.id).map(\.id.rawValue) == Array(5...10))
        #expect(try await outbox.entries(lane: "odd", limit: 2).map(\.id.rawValue) == [2, 4])
        #expect(try await outbox.entries(state: .dead).isEmpty)
    }

    @Test("What cannot be sent is not taken")
    func refusals() async throws {
        let outbox = try await lab.open { $0.limits.maximumBodySize = 10 }
        var bad: [OutboxRequest] = []
        bad.append(OutboxRequest(url: try #require(URL(string: "ftp://example.com/"))))
        bad.append(try OutboxRequest(to: url, lane: ""))
        bad.append(try OutboxRequest(to: url, body: .data(Data(repeating: 0, count: 11))))
        bad.append(try OutboxRequest(to: url, body: .file(path: lab.folder("missing"))))
        var secret = try OutboxRequest(to: url)
        secret.secretFields = [SecretField(name: "X Y", source: "env", key: "A")]
        bad.append(secret)
        for request in bad {
            await #expect(throws: OutboxError.self) { try await outbox.enqueue(request) }
        }
        #expect(try await outbox.counts() == OutboxCounts())
        await outbox.close()
        let error = await #expect(throws: OutboxError.self) {
            try await outbox.enqueue(OutboxRequest(to: url))
        }
        #expect(error?.code == .closed)
    }

    @Test("OBX-085 what frames a message, and CONNECT, are refused: no server could take the request")
    func framing() async throws {
        let outbox = try await lab.open()
        func refusal(_ change: (inout OutboxRequest) -> Void) async throws -> String {
            var request = try OutboxRequest(to: url)
            change(&request)
            let error = await #expect(throws: OutboxError.self) { try await outbox.enqueue(request) }
            #expect(error?.code == .badRequest)
            return error?.description ?? ""
        }
        #expect(try await refusal { $0.method = .connect }.contains("CONNECT asks for a tunnel"))
        #expect(try await refusal { $0.headerFields[.contentLength] = "3" }.contains("“Content-Length”"))
        #expect(
            try await refusal { $0.headerFields[.transferEncoding] = "chunked" }
                .contains("“Transfer-Encoding”"))
        let secret = SecretField(name: "content-length", source: "env", key: "N")
        #expect(try await refusal { $0.secretFields = [secret] }.contains("“content-length”"))
        #expect(try await outbox.counts() == OutboxCounts())
        await outbox.close()
    }
}
