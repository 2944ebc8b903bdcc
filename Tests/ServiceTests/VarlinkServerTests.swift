// SPDX-License-Identifier: Apache-2.0

import EventLoop
import ReachabilityCore
import Service
import ServiceCore
import SessionCore
import TestSupport
import Testing

/// The socket of a service in this process, on a network in memory.
@Suite("The service's socket", .timeLimit(.minutes(10)))
struct VarlinkServerTests {
    @Test("introspection")
    func introspection() async throws {
        let lab = try await ServiceLab()
        var client = try lab.client()
        let info = try client.call("org.varlink.service.GetInfo")
        #expect(info["parameters"]?["product"] == "reach" && info["parameters"]?["version"] == "1.2.3")
        #expect(info["parameters"]?["interfaces"] == ["org.varlink.service", "io.reach.Reachability"])
        let text = try client.call(
            "org.varlink.service.GetInterfaceDescription", ["interface": "io.reach.Reachability"])
        #expect(text["parameters"]?["description"]?.string == ServiceInterface.text)
        let unknown = try client.call(
            "org.varlink.service.GetInterfaceDescription", ["interface": "com.example"])
        #expect(unknown["error"] == "org.varlink.service.InterfaceNotFound")
        await lab.stop()
    }

    @Test("status, and since when once the service has seen it begin")
    func status() async throws {
        let lab = try await ServiceLab()
        var client = try lab.client()
        let first = try client.call("GetStatus")["parameters"]
        #expect(first?["status"] == "wired" && first?["interface"] == "eth0" && first?["since"] == .null)
        #expect(first?["links"]?[0]?["name"] == "eth0" && first?["event"] == nil)
        try client.send("Wait", ["goal": "unreachable"])
        lab.kernel.change { $0.setCarrier($0.index("eth0"), false) }
        let after = try #require(try client.reply())["parameters"]
        #expect(after?["status"] == "unreachable" && after?["since"]?.string != nil)
        await lab.stop()
    }

    @Test("a monitor gets how things are and every change; the others are served meanwhile")
    func monitor() async throws {
        let lab = try await ServiceLab()
        var monitor = try lab.client()
        try monitor.send("Monitor", more: true)
        #expect(try monitor.reply()?["parameters"]?["event"] == "initial")
        lab.kernel.change { $0.setCarrier($0.index("eth0"), false) }
        var lost = try monitor.reply()
        while lost?["parameters"]?["event"] == "path" { lost = try monitor.reply() }
        #expect(lost?["continues"] == true && lost?["parameters"]?["status"] == "unreachable")
        #expect(lost?["parameters"]?["previous"] == "wired")
        var other = try lab.client()
        #expect(try other.call("GetStatus")["parameters"]?["status"] == "unreachable")
        await lab.stop()
        #expect(try monitor.reply() == nil)
    }

    @Test("a wait ends when its interface has a path, which causes no update of the status")
    func waitForInterface() async throws {
        var network = FakeNetwork.wired
        let spare = network.addLink("eth1", up: false)
        network.addAddress("198.51.100.2/24", to: spare)
        network.addRoute("0.0.0.0/0", via: "198.51.100.1", on: spare, metric: 600)
        let lab = try await ServiceLab(network)
        var client = try lab.client()
        try client.send("Wait", ["interface": "eth1"])
        // In order: the wait has begun when another client has its answer.
        var other = try lab.client()
        #expect(try other.call("GetStatus")["parameters"]?["interface"] == "eth0")
        lab.kernel.change { $0.setCarrier(spare, true) }
        #expect(try client.reply()?["parameters"]?["status"] == "wired")
        await lab.stop()
    }

    @Test("a wait that is over says what is missing")
    func waitTimesOut() async throws {
        let lab = try await ServiceLab()
        var client = try lab.client()
        let reply = try client.call("Wait", ["goal": "wifi", "timeout": 0])
        #expect(reply["error"] == "io.reach.Reachability.TimedOut")
        #expect(reply["parameters"]?["reason"]?.string?.hasPrefix("not reachable by Wi-Fi") == true)
        await lab.stop()
    }

    @Test("explain returns the steps, for one address too")
    func explain() async throws {
        let lab = try await ServiceLab()
        var client = try lab.client()
        let general = try client.call("Explain")["parameters"]
        #expect(general?["status"] == "wired" && general?["explain"]?.array?.isEmpty == false)
        let host = try client.call("Explain", ["host": "192.0.2.77"])["parameters"]
        #expect(host?["host"] == "192.0.2.77" && host?["status"] == "wired")
        await lab.stop()
    }

    @Test("a service without history and outbox says so")
    func absentParts() async throws {
        let lab = try await ServiceLab()
        var client = try lab.client()
        #expect(try client.call("GetHistory")["error"] == "io.reach.Reachability.Unavailable")
        #expect(try client.call("ListOutbox")["error"] == "io.reach.Reachability.Unavailable")
        await lab.stop()
    }

    @Test("who was let in when the service ends is still answered; who has his answer is sent away")
    func clientsAtTheEnd() async throws {
        var limits = VarlinkLimits()
        limits.partingTime = .seconds(3600)
        let lab = try await ServiceLab(limits: limits)
        var early = try lab.client()
        var answered = try lab.client()
        var monitor = try lab.client()
        var waiter = try lab.client()
        try waiter.send("Wait", ["goal": "unreachable"])
        try monitor.send("Monitor", more: true)
        _ = try #require(try monitor.reply())
        // Its answer also proves that the earlier clients were accepted.
        #expect(try answered.call("GetStatus")["parameters"]?["status"] == "wired")

        try await lab.beginToStop()
        #expect(try answered.reply() == nil)
        #expect(try monitor.reply() == nil)
        #expect(try waiter.reply() == nil)
        let reply = try early.call("GetStatus")["parameters"]
        #expect(reply?["status"] == "wired" && reply?["reason"] != "not monitoring")
        #expect(try early.reply() == nil)
        await lab.stop()
    }

    @Test("a second service at the same socket says so; a socket without a service is replaced")
    func twice() async throws {
        let lab = try await ServiceLab()
        let path = lab.socket
        #expect(throws: ServiceError.self) { try UnixListener(path: path) }
        do { _ = try UnixListener(path: path) } catch {
            #expect(error.kind == .alreadyRunning && error.description.contains(path))
        }
        var client = try lab.client()
        #expect(try client.call("GetStatus")["error"] == nil)
        await lab.stop()
    }

    @Test("permission for the outbox: root, the service's user, the group")
    func permission() {
        func may(_ user: UInt32, _ group: UInt32, _ groups: [UInt32] = [], allowed: UInt32? = nil) -> Bool {
            PeerCredentials(process: 1, user: user, group: group, groups: groups)
                .mayUseOutbox(serviceUser: 500, group: allowed)
        }
        #expect(may(0, 0) && may(500, 1) && may(7, 9, allowed: 9) && may(7, 8, [3, 9], allowed: 9))
        #expect(!may(7, 9) && !may(7, 8, [3], allowed: 9) && !may(7, 500))
    }

    @Test("OBX-081 a client that has only closed its own direction gets the answers to what it has sent")
    func halfClosed() async throws {
        let lab = try await ServiceLab(hasOutbox: true)
        var client = try lab.client()
        // The second call waits behind the first, whose answer comes from another thread.
        try client.send("Enqueue", ["url": "http://192.0.2.1/"])
        try client.send("ListOutbox")
        client.endSending()
        #expect(try client.reply()?["parameters"]?["id"] == "1")
        #expect(try client.reply()?["parameters"]?["total"] == 1)
        #expect(try client.reply() == nil)
        await lab.stop()
    }

    @Test("OBX-081 a wait and a subscription outlast the end of the client's own direction, not its end")
    func halfClosedWaits() async throws {
        let lab = try await ServiceLab()
        do {
            var waiting = try lab.client()
            var watching = try lab.client()
            try waiting.send("Wait", ["goal": "unreachable"])
            waiting.endSending()
            try watching.send("Monitor", more: true)
            watching.endSending()
            #expect(try watching.reply()?["parameters"]?["event"] == "initial")
            while await !lab.stateLines.contains(where: { $0.contains("1 subscriptions, 1 waiting") }) {}
            lab.kernel.change { $0.setCarrier($0.index("eth0"), false) }
            #expect(try waiting.reply()?["parameters"]?["status"] == "unreachable")
            #expect(try waiting.reply() == nil)
            #expect(try watching.reply()?["parameters"]?["status"] == "unreachable")
            let gone = try lab.client()
            try gone.send("Wait", ["goal": "wifi"])
            gone.endSending()
            while await !lab.stateLines.contains(where: { $0.contains("1 subscriptions, 1 waiting") }) {}
        }
        // Nothing is written to the two that have gone.
        while await !lab.stateLines.contains(where: { $0.contains("0 clients, 0 subscriptions, 0 waiting") })
        {}
        await lab.stop()
    }
}
