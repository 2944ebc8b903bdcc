// SPDX-License-Identifier: Apache-2.0

import Dispatch
import EventLoop
import FoundationEssentials
import Glibc
import Outbox
import ReachabilityCore
import ServiceCore
import SessionCore
import Storage
import TestSupport
import Testing

@testable import Service

@Suite("The service's outbox", .timeLimit(.minutes(10)))
struct OutboxServiceTests {
    private func service(in folder: ScratchFolder) async throws -> ServiceBench<OutboxService> {
        try await ServiceBench(in: folder) { _, _, _ in
            var settings = ServiceConfiguration.Outbox()
            settings.entries = 17
            return OutboxService(
                settings, pauses: Backoff(first: .milliseconds(1), limit: .milliseconds(10)))
        }
    }

    @Test(
        "What another process delivers is delivered here when that has ended, and until then the state says so"
    )
    func lockHeld() async throws {
        let folder = try ScratchFolder("reach-service")
        try #require(mkdir(folder("outbox"), 0o700) == 0)
        let lock = try OwnedDescriptor(
            "open", open(folder("outbox/outbox.lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600))
        try #require(flock(lock.number, LOCK_EX | LOCK_NB) == 0)
        try #require(write(lock.number, "4711\n", 5) == 5)
        let service = try await service(in: folder)
        let first = await service.log.wait(forCount: 1)
        #expect(
            first.count == 1
                && first[0].hasPrefix(
                    "error: outbox: requests are taken, but not delivered: process 4711 delivers"),
            "\(first)")
        #expect(try await service.ask { $0.delivers } == false)
        let state = try await service.ask { $0.stateLine ?? "" }
        #expect(state.contains("not delivered: process 4711"), "\(state)")
        flock(lock.number, LOCK_UN)
        #expect(
            await service.log.wait(forCount: 2).dropFirst() == [
                "notice: outbox: requests are delivered again"
            ]
        )
        #expect(try await service.ask { $0.delivers })
        #expect(try await service.ask { $0.stateLine?.contains("not delivered") } == false)
        await service.stop()
        #expect(try await service.ask { $0.delivers } == false)
    }

    @Test("An outbox that cannot be opened is opened as soon as it can be; until then calls get the reason")
    func cannotOpen() async throws {
        let folder = try ScratchFolder("reach-service")
        // A file in the folder's place is an obstacle even for root.
        try #require(close(open(folder("outbox"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)) == 0)
        let service = try await service(in: folder)
        let first = await service.log.wait(forCount: 1)
        #expect(first[0].hasPrefix("error: outbox: "), "\(first)")
        let replies = EventLog<VarlinkReply>()
        _ = try await service.ask { $0.answerOutbox(.pause) { replies.append($0) } }
        #expect(await replies.wait(forCount: 1).first?.error == "io.reach.Reachability.Unavailable")
        #expect(unlink(folder("outbox")) == 0)
        #expect(
            await service.log.wait(forCount: 2).dropFirst() == [
                "notice: outbox: requests are delivered again"
            ]
        )
        _ = try await service.ask { $0.answerOutbox(.pause) { replies.append($0) } }
        #expect(await replies.wait(forCount: 2).last?.error == nil)
        await service.stop()
        // Processes that store requests without the service follow its limits.
        let kept = try Database(reading: folder("outbox/outbox.sqlite")).integer("SELECT entries FROM limits")
        #expect(kept == 17)
    }

    @Test(
        "FLD-021 The log and the state say that requests without TLS wait for the probe, and that they do no longer"
    )
    func portal() async throws {
        let service = try await ServiceBench(in: try ScratchFolder("reach-service")) { _, _, _ in
            OutboxService(isProbed: true)
        }
        let answers = EventLog<VarlinkReply>()
        // An answered call proves that the outbox is open.
        _ = try await service.ask { $0.answerOutbox(.resume) { answers.append($0) } }
        _ = await answers.wait(forCount: 1)
        for (internet, line) in [
            (
                InternetState.portal,
                "warning: outbox: what goes without TLS waits: the network wants a sign-in"
            ),
            (.full, "notice: outbox: what goes without TLS waits no longer"),
        ] {
            _ = try await service.ask { service in
                var change = CommittedChange.at(1, .wired)
                change.internet = internet
                service.internetChanged(change)
            }
            #expect(
                await service.log.wait { $0.last?.hasPrefix(line) == true }.last?.hasPrefix(line) == true,
                "\(service.log.elements)")
            #expect(try await service.ask { $0.stateLine?.contains("sign-in") } == (internet == .portal))
        }
        await service.stop()
    }

    @Test("It ends also while it cannot be opened")
    func endsMeanwhile() async throws {
        let folder = try ScratchFolder("reach-service")
        try #require(close(open(folder("outbox"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)) == 0)
        let service = try await service(in: folder)
        await service.log.wait(forCount: 1)
        await service.stop()
        #expect(service.log.elements.count == 1)
    }

    @Test("A client that waits once more does not get the answer to what it waited for before")
    func secondWait() async throws {
        let service = try await service(in: try ScratchFolder("reach-service"))
        let answers = EventLog<VarlinkReply>()
        // An answered call proves that the outbox is open.
        _ = try await service.ask { $0.answerOutbox(.resume) { answers.append($0) } }
        #expect(await answers.wait(forCount: 1).first?.error == nil)
        let isOpen = try await service.ask { service -> Bool in
            guard case .open(let outbox) = service.phase, let executor = service.executor else {
                return false
            }
            service.waitForEntry("77", timeout: nil, for: 5) { answers.append($0) }
            // When the later call has returned, the answer is on its way to this thread, which is busy.
            let isThere = DispatchSemaphore(value: 0)
            Task(executorPreference: executor) {
                _ = try? await outbox.counts()
                isThere.signal()
            }
            isThere.wait()
            service.forget(5)
            service.waitForEntry("78", timeout: nil, for: 5) { answers.append($0) }
            return true
        }
        try #require(isOpen)
        let answer = await answers.wait(forCount: 2)[1]
        #expect(answer == .noSuchEntry("78"))
        await service.stop()
        #expect(answers.elements.count == 2)
    }

    /// The members of replies, those of entries apart.
    private func words(_ replies: [VarlinkReply]) throws -> [String] {
        try replies.map { reply in
            let members = try JSONValue(parsing: Data(reply.parameters))
            if let error = reply.error { return String(error.split(separator: ".").last ?? "") }
            let words = ["event", "id", "outcome", "successor"].compactMap { members[$0]?.string }
            return (words + [reply.continues ? "…" : "."]).joined(separator: " ")
        }
    }

    @Test(
        "OBX-072 Clients follow one entry to its end, or a lane; who reads too little is refused; the end of the service is told"
    )
    func following() async throws {
        let service = try await service(in: try ScratchFolder("reach-service"))
        let (answers, one, lane, slow) = (
            EventLog<VarlinkReply>(), EventLog<VarlinkReply>(), EventLog<VarlinkReply>(),
            EventLog<VarlinkReply>()
        )
        func ask(_ call: OutboxCall) async throws -> JSONValue {
            let count = answers.elements.count
            _ = try await service.ask { $0.answerOutbox(call) { answers.append($0) } }
            return try JSONValue(parsing: Data(await answers.wait(forCount: count + 1)[count].parameters))
        }
        func draft() -> OutboxCall.Draft {
            var draft = OutboxCall.Draft("http://127.0.0.1:1/")
            draft.lane = "l"
            (draft.plan.replaces, draft.plan.gates) = ("state", ["g"])
            return draft
        }
        _ = try await ask(.holdGate(name: "g", reason: "closed", time: nil))
        #expect(try await ask(.listGates)["gates"]?.array?.first?["reason"]?.string == "closed")
        #expect(try await ask(.enqueue(draft()))["id"]?.string == "1")
        _ = try await service.ask { service in
            service.followEntries("1", lane: nil, tag: nil, for: 1) {
                one.append($0)
                return $0.continues ? 0 : nil
            }
            service.followEntries(nil, lane: "l", tag: nil, for: 2) {
                lane.append($0)
                return 0
            }
            service.followEntries(nil, lane: nil, tag: nil, for: 3) {
                slow.append($0)
                return 2 << 20
            }
            service.followEntries("99", lane: nil, tag: nil, for: 4) {
                slow.append($0)
                return nil
            }
        }
        #expect(try words(await one.wait(forCount: 2)) == ["present 1 …", "ready …"])
        let held = try JSONValue(parsing: Data(one.elements[0].parameters))["entry"]
        #expect(held?["hold"]?.string == "gate g is held: closed" && held?["replaces"]?.string == "state")
        #expect(try words(await lane.wait(forCount: 2)) == ["present 1 …", "ready …"])
        #expect(
            try words(await slow.wait(forCount: 3)).sorted() == [
                "LimitReached", "NoSuchEntry", "present 1 …",
            ])
        #expect(try await service.ask { $0.waitCount } == 2)
        let second = try await ask(.enqueue(draft()))
        #expect(second["id"]?.string == "2" && second["replaced"]?.array?.first?.string == "1")
        #expect(try words(await one.wait(forCount: 3)).last == "left 1 replaced 2 .")
        #expect(
            try words(await lane.wait(forCount: 4)).suffix(2).sorted() == [
                "left 1 replaced 2 …", "present 2 …",
            ])
        #expect(try await ask(.releaseGate(name: "g"))["wasHeld"]?.bool == true)
        let removed = try await ask(.removeAll(OutboxCall.Choice(lane: "l")))
        #expect(removed["ids"]?.array?.first?.string == "2")
        await service.stop()
        #expect(try words(lane.elements).last == "Unavailable")
    }

    @Test("OBX-084 a request that is refused has its reason: the parameter, or a sentence")
    func refusals() async throws {
        let service = try await service(in: try ScratchFolder("reach-service"))
        let answers = EventLog<VarlinkReply>()
        func enqueue(_ change: (inout OutboxCall.Draft) -> Void) async throws -> VarlinkReply {
            var draft = OutboxCall.Draft("http://127.0.0.1:1/")
            change(&draft)
            let count = answers.elements.count
            _ = try await service.ask { [draft] in $0.answerOutbox(.enqueue(draft)) { answers.append($0) } }
            return await answers.wait(forCount: count + 1)[count]
        }
        #expect(try await enqueue { $0.method = "G ET" } == .invalidParameter("method"))
        #expect(try await enqueue { $0.headers = ["X A": "b"] } == .invalidParameter("headers"))
        #expect(try await enqueue { $0.url = "nonsense" } == .invalidParameter("url"))
        #expect(try await enqueue { $0.plan.window = "noon" } == .invalidParameter("window"))
        for value in ["a\nb", "a\r\nX-B: c", "a\0"] {
            let reply = try await enqueue { $0.headers = ["X-A": value] }
            #expect(reply == .badRequest("the value of the field “X-A” has a line break or a NUL in it"))
        }
        for name in ["Content-Length", "transfer-encoding"] {
            let reply = try await enqueue { $0.headers = [name: "1"] }
            #expect(reply.error == "io.reach.Reachability.BadRequest", "\(reply)")
        }
        #expect(try await enqueue { $0.method = "CONNECT" }.error == "io.reach.Reachability.BadRequest")
        #expect(try await enqueue { $0.headers = ["X-A": "b"] }.error == nil)
        await service.stop()
    }
}
