// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachabilityCore
import ServiceCore
import SessionCore
import Testing

/// One connection without a socket: the answers, their order, and clients that do not read.
@Suite("Varlink connection")
struct VarlinkConnectionTests {
    private static func change(
        _ status: ReachabilityStatus, _ event: ReachabilityUpdate.Event = .status, interface: String = "eth0"
    ) -> CommittedChange {
        var path = ReachabilityPath()
        path.interface = interface
        path.isOnline = status.isReachable
        return CommittedChange(
            ReachabilityUpdate(event: event, status: status, previous: nil, path: path), since: nil,
            wall: WallTime(nanoseconds: 0), instant: MonotonicInstant(nanoseconds: 0))
    }

    private static func message(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

    private static func json(_ reply: VarlinkReply?) throws -> JSONValue {
        let reply = try #require(reply)
        #expect(reply.message.last == 0)
        return try JSONValue(parsing: Data(reply.message.dropLast()))
    }

    private func next(_ text: String, limits: VarlinkLimits = .init()) -> VarlinkConnectionStateMachine.Step {
        var machine = VarlinkConnectionStateMachine(limits: limits)
        _ = machine.received(Self.message(text))
        return machine.next(unread: 0)
    }

    @Test("calls are understood")
    func calls() {
        #expect(next(#"{"method":"org.varlink.service.GetInfo"}"#) == .begin(.info))
        #expect(next(#"{"method":"io.reach.Reachability.GetStatus","parameters":{}}"#) == .begin(.status))
        #expect(
            next(#"{"method":"io.reach.Reachability.Monitor","parameters":{"statusOnly":true},"more":true}"#)
                == .begin(.monitor(statusOnly: true)))
        #expect(
            next(
                #"{"method":"io.reach.Reachability.Wait","parameters":{"goal":"wifi","stable":0.5,"timeout":3}}"#
            )
                == .begin(
                    .wait(
                        WaitCondition(goal: .wifi),
                        WaitLimits(stable: .milliseconds(500), timeout: .seconds(3)))))
        #expect(
            next(#"{"method":"io.reach.Reachability.Explain","parameters":{"host":"192.0.2.9"}}"#)
                == .begin(.explain(host: "192.0.2.9")))
        #expect(
            next(#"{"method":"io.reach.Reachability.RetryOutbox","parameters":{"id":"7"}}"#)
                == .begin(.outbox(.retry(id: "7"))))
    }

    @Test(
        "what cannot be done has the error of its kind",
        arguments: [
            (
                #"{"method":"org.varlink.service.Nothing"}"#,
                VarlinkReply.methodNotFound("org.varlink.service.Nothing")
            ),
            (#"{"method":"com.example.Thing.Do"}"#, .interfaceNotFound("com.example.Thing")),
            (#"{"method":"Do"}"#, .methodNotFound("Do")),
            (#"{"method":"org.varlink.service.GetInterfaceDescription"}"#, .invalidParameter("interface")),
            (
                #"{"method":"io.reach.Reachability.GetStatus","parameters":{"hots":"x"}}"#,
                .invalidParameter("hots")
            ),
            (#"{"method":"io.reach.Reachability.GetStatus","upgrade":true}"#, .invalidParameter("upgrade")),
            (#"{"method":"io.reach.Reachability.Monitor"}"#, .expectedMore),
            (
                #"{"method":"io.reach.Reachability.Wait","parameters":{"goal":"up"}}"#,
                .invalidParameter("goal")
            ),
            (
                #"{"method":"io.reach.Reachability.Wait","parameters":{"timeout":-1}}"#,
                .invalidParameter("timeout")
            ),
            (
                #"{"method":"io.reach.Reachability.Explain","parameters":{"host":"www example"}}"#,
                .invalidParameter("host")
            ),
            (#"{"method":"io.reach.Reachability.Enqueue","parameters":{}}"#, .invalidParameter("url")),
            (
                #"{"method":"io.reach.Reachability.GetHistory","parameters":{"since":"yesterday"}}"#,
                .invalidParameter("since")
            ),
        ])
    func refusals(text: String, reply: VarlinkReply) {
        #expect(next(text) == .send(reply))
    }

    @Test(
        "what is no call ends the connection with a word about it",
        arguments: [
            "", "x", "[]", "{}", #"{"method":1}"#, #"{"method":"a.b","parameters":[]}"#,
            "{\"method\":\"\u{1}\"}",
        ])
    func malformed(text: String) {
        guard case .end(let reply) = next(text) else { return #expect(Bool(false), "\(text) was taken") }
        #expect(reply.error == "io.reach.Reachability.MalformedMessage")
    }

    @Test("after the end nothing is read any more")
    func afterTheEnd() {
        var machine = VarlinkConnectionStateMachine(limits: VarlinkLimits())
        _ = machine.received(Self.message("x") + Self.message(#"{"method":"org.varlink.service.GetInfo"}"#))
        guard case .end = machine.next(unread: 0) else { return #expect(Bool(false)) }
        #expect(machine.next(unread: 0) == .nothing)
        let isEnding = machine.isEnding
        #expect(isEnding)
    }

    @Test("calls are answered one after the other; a caller that wants no reply gets none")
    func order() throws {
        var machine = VarlinkConnectionStateMachine(limits: VarlinkLimits())
        let info = #"{"method":"org.varlink.service.GetInfo"}"#
        let silent = #"{"method":"io.reach.Reachability.GetStatus","oneway":true}"#
        let wrong = #"{"method":"a.b","oneway":true}"#
        _ = machine.received(
            Self.message(wrong) + Self.message(silent) + Self.message(info) + Self.message(info))
        #expect(machine.next(unread: 0) == .begin(.status))
        #expect(machine.next(unread: 0) == .nothing)
        #expect(machine.answered(VarlinkReply()) == nil)
        #expect(machine.next(unread: 0) == .begin(.info))
        #expect(machine.answered(VarlinkReply()) != nil)
        #expect(machine.next(unread: 0) == .begin(.info))
        var isIdle = machine.isIdle
        #expect(!isIdle)
        #expect(machine.answered(VarlinkReply()) != nil)
        #expect(machine.next(unread: 0) == .nothing)
        isIdle = machine.isIdle
        #expect(isIdle)
    }

    @Test(
        "OBX-070 a call may have many answers; the next one begins after the last, and who wants no reply has none"
    )
    func manyAnswers() throws {
        var machine = VarlinkConnectionStateMachine(limits: VarlinkLimits())
        let follow = #"{"method":"io.reach.Reachability.MonitorOutbox","parameters":{"lane":"l"},"more":true"#
        _ = machine.received(
            Self.message(follow + "}") + Self.message(#"{"method":"org.varlink.service.GetInfo"}"#)
                + Self.message(follow + #","oneway":true}"#)
                + Self.message(#"{"method":"org.varlink.service.GetInfo"}"#))
        #expect(machine.next(unread: 0) == .begin(.outbox(.monitor(id: nil, lane: "l", tag: nil))))
        for _ in 0..<2 {
            #expect(machine.answered(VarlinkReply(continues: true)) != nil)
            #expect(machine.next(unread: 0) == .nothing)
        }
        #expect(machine.answered(VarlinkReply()) != nil)
        #expect(machine.next(unread: 0) == .begin(.info))
        #expect(machine.answered(VarlinkReply()) != nil)
        #expect(machine.next(unread: 0) == .begin(.outbox(.monitor(id: nil, lane: "l", tag: nil))))
        #expect(machine.answered(VarlinkReply(continues: true)) == nil)
        #expect(machine.next(unread: 0) == .begin(.info))
    }

    @Test("OBX-071 the outbox's new calls are understood, with all their parameters")
    func outboxCalls() throws {
        func outbox(_ method: String, _ parameters: String, more: Bool = false)
            -> VarlinkConnectionStateMachine.Step
        {
            next(
                #"{"method":"io.reach.Reachability.\#(method)","parameters":\#(parameters),"more":\#(more)}"#)
        }
        let text =
            #"{"url":"http://a/","replaces":"n","keep":true,"tags":["a","b"],"notBefore":"2026-03-01T02:00:00Z","window":"01:00-02:00","spread":1.5,"every":60,"gates":["g"]}"#
        guard case .begin(.outbox(.enqueue(let draft))) = outbox("Enqueue", text) else {
            return #expect(Bool(false))
        }
        var plan = OutboxCall.Plan()
        (plan.replaces, plan.keeps, plan.tags, plan.gates) = ("n", true, ["a", "b"], ["g"])
        (plan.notBefore, plan.window) = (WallTime("2026-03-01T02:00:00Z"), "01:00-02:00")
        (plan.spread, plan.every) = (.milliseconds(1_500), .seconds(60))
        #expect(draft.plan == plan)
        let choice = OutboxCall.Choice(lane: "l", tag: "t", statusCode: 404)
        let chosen = #"{"lane":"l","tag":"t","statusCode":404}"#
        #expect(outbox("RetryEntries", chosen) == .begin(.outbox(.retryAll(choice))))
        #expect(outbox("RemoveEntries", chosen) == .begin(.outbox(.removeAll(choice))))
        #expect(outbox("ListOutbox", chosen) == .begin(.outbox(.list(choice, limit: 100))))
        #expect(
            outbox("HoldGate", #"{"name":"g","reason":"r","for":60}"#)
                == .begin(.outbox(.holdGate(name: "g", reason: "r", time: .seconds(60)))))
        #expect(outbox("ReleaseGate", #"{"name":"g"}"#) == .begin(.outbox(.releaseGate(name: "g"))))
        #expect(outbox("ListGates", "{}") == .begin(.outbox(.listGates)))
        #expect(outbox("MonitorOutbox", #"{"id":"1"}"#) == .send(.expectedMore))
        #expect(
            outbox("MonitorOutbox", #"{"id":"1","tag":"t"}"#, more: true) == .send(.invalidParameter("id")))
        #expect(outbox("ListOutbox", #"{"statusCode":7}"#) == .send(.invalidParameter("statusCode")))
    }

    @Test("as many calls as fit that are refused and want no reply are passed over, one after the other")
    func refusedInSilence() {
        var limits = VarlinkLimits()
        limits.messageSize = 1 << 20
        var machine = VarlinkConnectionStateMachine(limits: limits)
        let wrong = Self.message(#"{"method":"a","oneway":true}"#)
        let count = limits.messageSize / wrong.count
        _ = machine.received((0..<count).flatMap { _ in wrong })
        _ = machine.received(Self.message(#"{"method":"org.varlink.service.GetInfo"}"#))
        #expect(machine.next(unread: 0) == .begin(.info))
    }

    @Test("no call is begun while too much lies unread")
    func standstill() {
        var machine = VarlinkConnectionStateMachine(limits: VarlinkLimits())
        _ = machine.received(Self.message(#"{"method":"org.varlink.service.GetInfo"}"#))
        #expect(machine.next(unread: 1 << 20) == .nothing)
        #expect(machine.next(unread: 0) == .begin(.info))
    }

    @Test("what waits behind an unfinished call is bounded")
    func behind() {
        var limits = VarlinkLimits()
        limits.messageSize = 100
        var machine = VarlinkConnectionStateMachine(limits: limits)
        _ = machine.received(Self.message(#"{"method":"io.reach.Reachability.Wait"}"#))
        guard case .begin = machine.next(unread: 0) else { return #expect(Bool(false)) }
        #expect(machine.received([UInt8](repeating: 0, count: 90)) == .nothing)
        guard case .end(let reply) = machine.received([UInt8](repeating: 0, count: 90)) else {
            return #expect(Bool(false))
        }
        #expect(reply.error == "io.reach.Reachability.LimitReached")
    }

    @Test(
        "a subscriber that does not read gets the newest change when it does, and what differs from its last")
    func slowSubscriber() throws {
        var machine = VarlinkConnectionStateMachine(limits: VarlinkLimits())
        _ = machine.received(Self.message(#"{"method":"io.reach.Reachability.Monitor","more":true}"#))
        guard case .begin(.monitor(false)) = machine.next(unread: 0) else { return #expect(Bool(false)) }
        let first = try Self.json(machine.subscribed(statusOnly: false, to: Self.change(.wired)))
        #expect(first["continues"] == true)
        #expect(first["parameters"]?["event"] == "initial" && first["parameters"]?["previous"] == .null)
        #expect(machine.changed(Self.change(.unreachable), unread: 1 << 20) == nil)
        #expect(machine.changed(Self.change(.wifi, interface: "wlan0"), unread: 1 << 20) == nil)
        let newest = try Self.json(machine.drained())
        #expect(newest["parameters"]?["status"] == "wifi" && newest["parameters"]?["previous"] == "wired")
        #expect(newest["parameters"]?["event"] == "status" && newest["parameters"]?["interface"] == "wlan0")
        #expect(machine.drained() == nil)
        // The status changed and returned, so it equals the last one reported.
        #expect(machine.changed(Self.change(.unreachable), unread: 1 << 20) == nil)
        #expect(machine.changed(Self.change(.wifi), unread: 1 << 20) == nil)
        #expect(try Self.json(machine.drained())["parameters"]?["event"] == "path")
    }

    @Test("what is behind the path is an event of its own, and goes with the next one where it was left out")
    func internet() throws {
        var machine = VarlinkConnectionStateMachine(limits: VarlinkLimits())
        _ = machine.received(Self.message(#"{"method":"io.reach.Reachability.Monitor","more":true}"#))
        guard case .begin(.monitor(false)) = machine.next(unread: 0) else { return #expect(Bool(false)) }
        _ = machine.subscribed(statusOnly: false, to: Self.change(.wired))
        func found(_ state: InternetState) -> CommittedChange {
            var change = Self.change(.wired)
            (change.internet, change.isInternet) = (state, true)
            return change
        }
        let reported = try Self.json(machine.changed(found(.portal), unread: 0))["parameters"]
        #expect(
            reported?["event"] == "internet" && reported?["internet"] == "portal"
                && reported?["previous"] == "wired")
        #expect(machine.changed(found(.limited), unread: 1 << 20) == nil)
        #expect(try Self.json(machine.drained())["parameters"]?["event"] == "internet")
        // A path was skipped as well.
        #expect(machine.changed(Self.change(.wired, .path), unread: 1 << 20) == nil)
        #expect(machine.changed(found(.full), unread: 1 << 20) == nil)
        let both = try Self.json(machine.drained())["parameters"]
        #expect(both?["event"] == "path" && both?["internet"] == "full")
    }

    @Test("a subscriber to statuses alone hears of no path")
    func statusOnly() throws {
        var machine = VarlinkConnectionStateMachine(limits: VarlinkLimits())
        _ = machine.received(
            Self.message(
                #"{"method":"io.reach.Reachability.Monitor","parameters":{"statusOnly":true},"more":true}"#))
        guard case .begin(.monitor(true)) = machine.next(unread: 0) else { return #expect(Bool(false)) }
        _ = machine.subscribed(statusOnly: true, to: Self.change(.wired))
        #expect(machine.changed(Self.change(.wired, .path), unread: 0) == nil)
        var found = Self.change(.wired)
        (found.internet, found.isInternet) = (.full, true)
        #expect(machine.changed(found, unread: 0) == nil)
        #expect(machine.changed(Self.change(.unreachable), unread: 0) != nil)
    }

    @Test("the status is what the program prints, byte for byte")
    func sameObject() {
        let report = Self.change(.wired).state
        var line = TextLine()
        ReportJSON.write(report, to: &line)
        #expect(String(decoding: VarlinkReply(report).parameters, as: UTF8.self) + "\n" == line.text)
    }

    @Test("OBX-081 after the end of the client's calls it stays open for their answers, and for nothing else")
    func afterTheCalls() {
        func closes(_ text: String, answered: Bool = false) -> Bool {
            var machine = VarlinkConnectionStateMachine(limits: VarlinkLimits())
            _ = machine.received(Array(text.utf8))
            _ = machine.next(unread: 0)
            if answered { _ = machine.answered(VarlinkReply()) }
            return machine.wait(unread: 0, hasEnded: true, isDraining: false, isAnswered: answered) == .close
        }
        let call = #"{"method":"org.varlink.service.GetInfo"}"#
        #expect(closes("") && closes(call) && closes(call + "\0", answered: true))
        #expect(!closes(call + "\0"))
        // Another call may wait behind one without an answer.
        #expect(!closes(#"{"method":"org.varlink.service.GetInfo","oneway":true}"# + "\0"))
    }
}

extension VarlinkConnectionStateMachine {
    fileprivate mutating func changed(_ change: CommittedChange, unread: Int) -> VarlinkReply? {
        var replies = ChangeReplies(change)
        return changed(&replies, unread: unread)
    }
}
