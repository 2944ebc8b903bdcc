// SPDX-License-Identifier: Apache-2.0

import EventLoop
import ReachabilityCore
import Service
import ServiceCore
import SessionCore
import Synchronization
import TestSupport
import Testing

/// Misbehaving clients: each gets an error or a closed connection, and other clients are served.
@Suite("Abuse of the service's socket", .timeLimit(.minutes(10)))
struct VarlinkAbuseTests {
    /// Checks that another client is served normally.
    private func expectService(_ lab: ServiceLab) throws {
        var client = try lab.client()
        #expect(try client.call("GetStatus")["error"] == nil)
    }

    /// A number of changes, one after the other.
    private func change(_ lab: ServiceLab, times: Int) async throws {
        for number in 1...times {
            lab.kernel.change { network in
                network.removeRoutes("0.0.0.0/0")
                network.addRoute(
                    "0.0.0.0/0", via: "192.0.2.\(1 + number % 2)", on: network.index("eth0"),
                    metric: UInt32(number))
            }
            try await lab.settle()
        }
    }

    @Test("random bytes")
    func randomBytes() async throws {
        let lab = try await ServiceLab()
        var random = SeededGenerator(seed: 7)
        for _ in 0..<100 {
            var client = try lab.client()
            let bytes = (0..<Int.random(in: 1...3000, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            // The service may close the connection before all is sent.
            try? client.send(bytes: bytes + [0])
            while let reply = try client.reply() {
                #expect(reply["error"] == "io.reach.Reachability.MalformedMessage")
            }
        }
        try expectService(lab)
        await lab.stop()
    }

    @Test("a message without an end")
    func endless() async throws {
        var limits = VarlinkLimits()
        limits.messageSize = 4096
        let lab = try await ServiceLab(limits: limits)
        var client = try lab.client()
        let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 64 << 10)
        // Until the service closes the connection.
        #expect(throws: ServiceError.self) { while true { try client.send(bytes: piece) } }
        #expect(try client.reply()?["error"] == "io.reach.Reachability.MalformedMessage")
        #expect(try client.reply() == nil)
        try expectService(lab)
        await lab.stop()
    }

    @Test("half a message is given its time and no more; silence is no message")
    func half() async throws {
        var limits = VarlinkLimits()
        limits.messageTime = .milliseconds(50)
        let lab = try await ServiceLab(limits: limits)
        var silent = try lab.client()
        #expect(try silent.call("GetStatus")["error"] == nil)
        var client = try lab.client()
        try client.send(bytes: Array(#"{"method":"#.utf8))
        #expect(try client.reply()?["error"] == "io.reach.Reachability.MalformedMessage")
        #expect(try client.reply() == nil)
        #expect(try silent.call("GetStatus")["error"] == nil)
        await lab.stop()
    }

    @Test("a hundred idle clients where eight may be: the last ones stay, and new ones are let in")
    func idleClients() async throws {
        var limits = VarlinkLimits()
        limits.clientsPerUser = 8
        let lab = try await ServiceLab(limits: limits)
        let clients = try (0..<100).map { _ in try Box(lab.client()) }
        try expectService(lab)
        // The first connection was closed.
        #expect(try clients[0].reply() == nil)
        #expect(try clients[99].call("GetStatus")["error"] == nil)
        let lines = await lab.stateLines
        #expect(lines.contains { $0.contains("8 clients") || $0.contains("7 clients") }, "\(lines)")
        await lab.stop()
    }

    @Test("a subscriber that does not read skips to the newest change, and costs no more than the limits say")
    func slowSubscriber() async throws {
        var limits = VarlinkLimits()
        limits.unread = 4096
        let lab = try await ServiceLab(limits: limits)
        var client = try lab.client()
        try client.send("Monitor", more: true)
        var reply = try client.reply()
        #expect(reply?["parameters"]?["event"] == "initial")
        let changes = 600
        try await change(lab, times: changes)
        try expectService(lab)
        // Changes may be evaluated together; only the last one is a status of its own.
        lab.kernel.change { $0.setCarrier($0.index("eth0"), false) }
        var count = 0
        while reply?["parameters"]?["status"] != "unreachable" {
            reply = try client.reply()
            try #require(reply != nil)
            count += 1
        }
        #expect(count < changes)
        await lab.stop()
    }

    @Test("a reader that stands still for too long is dropped")
    func stalled() async throws {
        var limits = VarlinkLimits()
        limits.unread = 4096
        limits.stallTime = .milliseconds(50)
        let lab = try await ServiceLab(limits: limits)
        var client = try lab.client()
        try client.send("Monitor", more: true)
        #expect(try client.reply()?["error"] == nil)
        // Until the connection is closed and no client is left.
        while await !lab.stateLines.contains(where: { $0.contains("0 clients") }) {
            try await change(lab, times: 20)
        }
        // The kernel's buffer can still be read; then the stream ends.
        while try client.reply() != nil {}
        try expectService(lab)
        await lab.stop()
    }

    @Test("calls without reading the answers: no more of them are begun, and all are answered once it reads")
    func callsWithoutReading() async throws {
        let lab = try await ServiceLab()
        var client = try lab.client()
        let call = VarlinkCall(
            "org.varlink.service.GetInterfaceDescription", ["interface": "org.varlink.service"])
        var sent = 0
        // Whole messages only: a message that does not fit into the socket's queue at once is not waited for.
        do {
            while sent < 100_000 {
                try client.sendNow(call.message)
                sent += 1
            }
        } catch {}
        #expect(sent < 100_000)
        try expectService(lab)
        for _ in 0..<sent { #expect(try client.reply()?["error"] == nil) }
        await lab.stop()
    }

    @Test("who takes all he gets leaves the owners their connections and subscriptions")
    func greedy() async throws {
        var limits = VarlinkLimits()
        (limits.clients, limits.publicClientsPerUser, limits.reservedClients) = (8, 8, 2)
        (limits.subscriptions, limits.publicSubscriptionsPerUser, limits.reservedSubscriptions) = (6, 8, 2)
        // All clients of a test have one user: later ones become owners.
        let isOwner = Flag()
        let lab = try await ServiceLab(limits: limits, isOwner: { _ in isOwner.isSet })
        var answers: [String?] = []
        var greedy: [Box] = []
        for _ in 0..<6 {
            let client = try Box(lab.client())
            try client.send("Monitor", more: true)
            answers.append(try client.reply()?["error"]?.string)
            greedy.append(client)
        }
        #expect(answers.prefix(4).allSatisfy { $0 == nil })
        #expect(answers.suffix(2).allSatisfy { $0 == "io.reach.Reachability.LimitReached" })
        // The two idle connections are the ones that are closed.
        for _ in 0..<2 {
            let client = try Box(lab.client())
            try client.send("GetStatus")
            #expect(try client.reply()?["error"] == nil)
            greedy.append(client)
        }
        #expect(try greedy[4].reply() == nil)
        isOwner.set()
        for _ in 0..<2 {
            let client = try Box(lab.client())
            try client.send("Monitor", more: true)
            #expect(try client.reply()?["parameters"]?["event"] == "initial")
            greedy.append(client)
        }
        await lab.stop()
    }

    @Test("a client with its answer waits no more")
    func waitsEnd() async throws {
        var limits = VarlinkLimits()
        limits.subscriptions = 1
        let lab = try await ServiceLab(limits: limits)
        var client = try lab.client()
        for _ in 0..<3 {
            #expect(try client.call("Wait", ["goal": "wired"])["parameters"]?["status"] == "wired")
            #expect(
                try client.call("Wait", ["goal": "wifi", "timeout": 0])["error"]
                    == "io.reach.Reachability.TimedOut")
        }
        // A caller that wants no reply gets no subscription either.
        try client.send(
            bytes: Array(#"{"method":"io.reach.Reachability.Monitor","more":true,"oneway":true}"#.utf8) + [0])
        var other = try lab.client()
        #expect(try client.call("GetStatus")["error"] == nil)
        try other.send("Monitor", more: true)
        #expect(try other.reply()?["error"] == nil)
        await lab.stop()
    }

    @Test("unread long answers are bounded for all clients together, without the owners")
    func unreadAnswers() async throws {
        var limits = VarlinkLimits()
        limits.publicUnread = 1 << 20
        let isOwner = Flag()
        let lab = try await ServiceLab(
            limits: limits, isOwner: { _ in isOwner.isSet }, parts: { [LongHistory()] })
        func deaf() throws -> Box {
            let client = try Box(lab.client())
            try client.send("GetHistory")
            // Later callers are answered later.
            for _ in 0..<2 { try expectService(lab) }
            return client
        }
        var clients = [try deaf(), try deaf()]
        let last = try Box(lab.client())
        try last.send("GetHistory")
        #expect(try last.reply()?["error"] == "io.reach.Reachability.LimitReached")
        isOwner.set()
        try last.send("GetHistory")
        #expect(try last.reply()?["parameters"]?["text"]?.string?.count == LongHistory.length)
        isOwner.unset()
        #expect(try clients[0].reply()?["error"] == nil)
        clients = []
        while await !lab.stateLines.contains(where: { $0.contains("1 clients") }) {}
        try last.send("GetHistory")
        #expect(try last.reply()?["error"] == nil)
        await lab.stop()
    }

    @Test("subscriptions are counted")
    func subscriptions() async throws {
        var limits = VarlinkLimits()
        limits.subscriptions = 2
        let lab = try await ServiceLab(limits: limits)
        var first = try lab.client()
        try first.send("Monitor", more: true)
        #expect(try first.reply()?["error"] == nil)
        let second = try lab.client()
        try second.send("Wait", ["goal": "wifi"])
        var third = try lab.client()
        // The second is served on its own connection; when the third is refused, it waits.
        var reply = try third.call("Monitor", [:])
        #expect(reply["error"] == "org.varlink.service.ExpectedMore")
        while await !lab.stateLines.contains(where: { $0.contains("1 subscriptions, 1 waiting") }) {}
        try third.send("Monitor", more: true)
        reply = try #require(try third.reply())
        #expect(reply["error"] == "io.reach.Reachability.LimitReached")
        await lab.stop()
    }
}

/// A caller in a list.
private final class Box {
    private var caller: Caller

    init(_ caller: consuming Caller) { self.caller = caller }

    func send(_ method: String, more: Bool = false) throws { try caller.send(method, more: more) }
    func reply() throws -> JSONValue? { try caller.reply() }
    func call(_ method: String) throws -> JSONValue { try caller.call(method) }
}

/// A history whose periods fill more than a socket takes.
private final class LongHistory: ServiceComponent, HistoryAnswering {
    static let length = 1 << 20
    let name = "history"

    func start(_ context: ServiceContext) throws(ServiceError) {}

    func answerHistory(since: WallTime?, limit: Int, _ answer: @escaping (VarlinkReply) -> Void) {
        answer(VarlinkReply(["text": .string(String(repeating: "x", count: Self.length))]))
    }
}

/// A condition that is shared with another thread.
private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
    func unset() { value.store(false, ordering: .relaxed) }
}
