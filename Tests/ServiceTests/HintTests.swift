// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import Service
import ServiceCore
import SessionCore
import TestSupport
import Testing

/// `SetHint`, by the socket of a service on a network in memory.
@Suite("Hints about links", .timeLimit(.minutes(10)))
struct HintTests {
    /// eth0 in use, and a modem's link beside it.
    private static var network: FakeNetwork {
        var network = FakeNetwork.wired
        let ppp0 = network.addLink("ppp0", hardwareType: 512)
        network.addAddress("198.51.100.2/32", to: ppp0)
        network.addRoute("0.0.0.0/0", on: ppp0, metric: 700)
        return network
    }

    private static func link(_ name: String, _ reply: JSONValue) -> JSONValue? {
        reply["parameters"]?["links"]?.array?.first { $0["name"]?.string == name }
    }

    @Test("UPL-240 a hint holds at once for its link, until the next one takes it back")
    func hint() async throws {
        let lab = try await ServiceLab(Self.network)
        var client = try lab.client()
        #expect(Self.link("ppp0", try client.call("GetStatus"))?["metered"] == "unknown")
        let taken = try client.call("SetHint", ["interface": "ppp0", "metered": "yes", "roaming": true])
        #expect(taken["error"] == nil && taken["parameters"] == [:])
        let reported = Self.link("ppp0", try client.call("GetStatus"))
        #expect(
            reported?["metered"] == "yes" && reported?["roaming"] == true && reported?["constrained"] == false
        )
        _ = try client.call("SetHint", ["interface": "ppp0", "roaming": false])
        let later = Self.link("ppp0", try client.call("GetStatus"))
        #expect(later?["metered"] == "unknown" && later?["roaming"] == false)
        _ = try client.call("SetHint", ["interface": "eth0", "metered": "guess-yes"])
        let path = try client.call("GetStatus")["parameters"]
        #expect(path?["expensive"] == true && path?["metered"] == "guess-yes")
        _ = try client.call("SetHint", ["interface": "eth0"])
        #expect(try client.call("GetStatus")["parameters"]?["expensive"] == false)
        await lab.stop()
    }

    @Test("UPL-241 a subscriber is told of a hint about the path in use, with the event path")
    func monitor() async throws {
        let lab = try await ServiceLab(Self.network, configure: { $0.reportsLinks = true })
        var monitor = try lab.client()
        var client = try lab.client()
        try monitor.send("Monitor", more: true)
        #expect(try monitor.reply()?["parameters"]?["event"] == "initial")
        _ = try client.call("SetHint", ["interface": "eth0", "roaming": true])
        let change = try #require(try monitor.reply())["parameters"]
        #expect(change?["event"] == "path" && change?["expensive"] == true)
        #expect(change?["links"]?[0]?["roaming"] == true)
        await lab.stop()
    }

    @Test("UPL-242 a hint goes with its link: another link of that name has none")
    func goneLink() async throws {
        let lab = try await ServiceLab(Self.network)
        var client = try lab.client()
        _ = try client.call("SetHint", ["interface": "ppp0", "metered": "yes"])
        let index = Self.network.index("ppp0")
        lab.kernel.change(.linkRemoved(index: index)) { $0.links.removeAll { $0.index == index } }
        try await lab.settle()
        // The same index and name again, which the kernel gives much later.
        lab.kernel.change { network in
            network.addLink("ppp0", hardwareType: 512)
        }
        try await lab.settle()
        #expect(Self.link("ppp0", try client.call("GetStatus"))?["index"] == .integer(Int64(index)))
        #expect(Self.link("ppp0", try client.call("GetStatus"))?["metered"] == "unknown")
        await lab.stop()
    }

    @Test("UPL-243 a hint about no interface, of no value or by a stranger is refused")
    func refused() async throws {
        let lab = try await ServiceLab(Self.network)
        var client = try lab.client()
        let absent = try client.call("SetHint", ["interface": "wwan7", "metered": "yes"])
        #expect(absent["error"] == "io.reach.Reachability.NoSuchInterface")
        #expect(absent["parameters"]?["interface"] == "wwan7")
        let long = String(repeating: "x", count: 300)
        #expect(
            try client.call("SetHint", ["interface": .string(long)])["error"]
                == "io.reach.Reachability.NoSuchInterface")
        for (parameters, wrong) in [
            (["interface": "ppp0", "metered": "maybe"], "metered"), (["metered": "yes"], "interface"),
            (["interface": "ppp0", "roaming": "no"], "roaming"), (["interface": "ppp0", "cost": 1], "cost"),
        ] as [([String: JSONValue], String)] {
            let reply = try client.call("SetHint", parameters)
            #expect(reply["error"] == "org.varlink.service.InvalidParameter")
            #expect(reply["parameters"]?["parameter"]?.string == wrong)
        }
        await lab.stop()
        let closed = try await ServiceLab(Self.network, mayUseOutbox: { _ in false })
        var stranger = try closed.client()
        let denied = try stranger.call("SetHint", ["interface": "ppp0", "metered": "yes"])
        #expect(denied["error"] == "org.varlink.service.PermissionDenied")
        #expect(Self.link("ppp0", try stranger.call("GetStatus"))?["metered"] == "unknown")
        await closed.stop()
    }

    @Test("UPL-244 the service's own configuration counts more than a hint")
    func configured() async throws {
        let lab = try await ServiceLab(Self.network, configure: { $0.metered = ["ppp0": .no] })
        var client = try lab.client()
        _ = try client.call("SetHint", ["interface": "ppp0", "metered": "yes", "roaming": true])
        let link = Self.link("ppp0", try client.call("GetStatus"))
        #expect(link?["metered"] == "no" && link?["roaming"] == true)
        await lab.stop()
    }
}
