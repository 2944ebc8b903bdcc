// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import Service
import ServiceCore
import SessionCore
import SessionManager
import TestSupport
import Testing

/// The service's method `Wait` with several interfaces, on a network in memory.
@Suite("Waits of the service", .timeLimit(.minutes(10)))
struct WaitCallTests {
    /// In place of a probe: a portal at first, the internet after SIGHUP.
    private final class Internet: ServiceComponent {
        let name = "internet"
        private var context: ServiceContext?

        func start(_ context: ServiceContext) throws(ServiceError) { self.context = context }
        func statusChanged(_ change: CommittedChange) {
            if change.event == .initial { context?.notify(internet: .portal) }
        }
        func reload(_ configuration: ServiceConfiguration) { context?.notify(internet: .full) }
        func stop(_ done: @escaping () -> Void) {
            context = nil
            done()
        }
    }

    /// In place of a probe: after SIGHUP there is internet behind eth1, where that was to be asked.
    private final class Spare: ServiceComponent {
        let name = "internet"
        private var context: ServiceContext?

        func start(_ context: ServiceContext) throws(ServiceError) { self.context = context }
        func statusChanged(_ change: CommittedChange) {
            if change.event == .initial { found(eth1: .unknown) }
        }
        func reload(_ configuration: ServiceConfiguration) {
            found(eth1: context?.wantedUplinks == ["eth1"] ? .full : .portal)
        }
        private func found(eth1 state: InternetState) {
            var findings = InternetFindings(.limited)
            findings.uplinks = [("eth0", InternetState.limited), ("eth1", state)].map { name, state in
                UplinkInternet(
                    interface: name, isPreferred: name == "eth0", InternetAnswer(state), wall: 0, boot: 0)
            }
            context?.notify(findings: findings)
        }
        func stop(_ done: @escaping () -> Void) {
            context = nil
            done()
        }
    }

    /// A probe that asks again after an hour, or after a moment where its answer is waited for.
    private final class Patient: ServiceComponent {
        let name = "internet"
        private let url: String
        private var context: ServiceContext?
        private var observation: ReachabilityObservation?

        init(_ url: String) { self.url = url }
        func start(_ context: ServiceContext) throws(ServiceError) { self.context = context }
        func statusChanged(_ change: CommittedChange) {
            guard change.event == .initial, let context, let request = try? SessionRequest(url) else {
                return
            }
            var configuration = InternetProbeConfiguration(request.url)
            (configuration.firstPause, configuration.longestPause) = (.seconds(3600), .seconds(3600))
            configuration.longestAwaitedPause = .milliseconds(10)
            var session = SessionConfiguration()
            session.proxy = ""
            let probe = InternetProbe(configuration, provider: nil, session: session, on: context.reactor)
            context.probe = probe
            let here = LoopBound(self, to: context.reactor)
            observation = probe.observeFindings { found in
                here.perform { $0.context?.notify(findings: found) }
            }
            probe.start()
        }
        func stop(_ done: @escaping () -> Void) {
            observation?.cancel()
            observation = nil
            context?.probe = nil
            context = nil
            done()
        }
    }

    private static var twoCables: FakeNetwork {
        var network = FakeNetwork.wired
        let spare = network.addLink("eth1", up: false)
        network.addAddress("198.51.100.2/24", to: spare)
        network.addRoute("0.0.0.0/0", via: "198.51.100.1", on: spare, metric: 600)
        return network
    }

    private static var twoUplinks: FakeNetwork {
        var network = FakeNetwork.wired
        let spare = network.addLink("eth1")
        network.addAddress("198.51.100.2/24", to: spare)
        network.addRoute("0.0.0.0/0", via: "198.51.100.1", on: spare, metric: 600)
        return network
    }

    @Test("UPL-214 any of its interfaces, all of them, and none that is ignored")
    func interfaces() async throws {
        let lab = try await ServiceLab(Self.twoCables)
        var any = try lab.client()
        #expect(try any.call("Wait", ["interfaces": ["eth1", "eth0"]])["parameters"]?["interface"] == "eth0")
        var all = try lab.client()
        try all.send("Wait", ["interfaces": ["eth1", "eth0"], "all": true])
        var beside = try lab.client()
        try beside.send("Wait", ["ignore": ["eth0", "wl*"]])
        // In order: the waits have begun when another client has its answer.
        #expect(try any.call("GetStatus")["error"] == nil)
        lab.kernel.change { $0.setCarrier($0.index("eth1"), true) }
        for reply in [try all.reply(), try beside.reply()] {
            let links = reply?["parameters"]?["links"]?.array
            #expect(links?.contains { $0["name"] == "eth1" && $0["online"] == true } == true)
        }
        await lab.stop()
    }

    @Test("UPL-214 a wait for a cable that cannot come is given up")
    func noCarrier() async throws {
        let lab = try await ServiceLab(Self.twoCables)
        var client = try lab.client()
        let reply = try client.call("Wait", ["interface": "eth1", "noCarrierTimeout": 0.05])
        #expect(reply["error"] == "io.reach.Reachability.NoCarrier")
        #expect(
            reply["parameters"]?["reason"]?.string
                == "not reachable through eth1: gave up after 0.1 s without a carrier on eth1")
        await lab.stop()
    }

    @Test("UPL-215 the internet is waited for where a server is asked")
    func internet() async throws {
        let silent = try await ServiceLab()
        var client = try silent.client()
        let refused = try client.call("Wait", ["goal": "internet"])
        #expect(refused["error"] == "io.reach.Reachability.Unavailable", "\(refused)")
        await silent.stop()
        let lab = try await ServiceLab(parts: { [Internet()] })
        var waiter = try lab.client()
        try waiter.send("Wait", ["goal": "internet"])
        var other = try lab.client()
        #expect(try other.call("GetStatus")["parameters"]?["internet"] == "portal")
        lab.reload()
        #expect(try waiter.reply()?["parameters"]?["internet"] == "full")
        await lab.stop()
    }

    @Test("UPL-442 A wait for the internet behind one interface has that asked, and others not any more")
    func internetElsewhere() async throws {
        let lab = try await ServiceLab(Self.twoUplinks, parts: { [Spare()] })
        var waiter = try lab.client()
        try waiter.send("Wait", ["goal": "internet", "interface": "eth1"])
        var other = try lab.client()
        #expect(try other.call("GetStatus")["parameters"]?["internet"] == "limited")
        lab.reload()
        #expect(try waiter.reply()?["parameters"]?["internet"] == "limited")
        lab.reload()
        var links = try other.call("GetStatus")["parameters"]?["links"]?.array
        while links?.contains(where: { $0["internet"] == "portal" }) == false {
            links = try other.call("GetStatus")["parameters"]?["links"]?.array
        }
        #expect(links?.first { $0["name"] == "eth1" }?["internet"] == "portal")
        #expect(links?.first { $0["name"] == "eth0" }?["internet"] == "limited")
        await lab.stop()
    }

    @Test("UPL-462 A wait for the internet has the probe ask soon, and no other wait does")
    func awaited() async throws {
        let origin = try await TestSupport.Origin.shared
        // Fails once, as behind a router whose line is down.
        let url = origin.url("/retry-after?key=wait-awaited&times=1&status=503")
        let lab = try await ServiceLab(parts: { [Patient(url)] })
        var client = try lab.client()
        var state: JSONValue?
        while state != "limited" { state = try client.call("GetStatus")["parameters"]?["internet"] }
        // It lasts longer than the pause for what is awaited.
        #expect(try client.call("Wait", ["stable": 0.2])["parameters"]?["internet"] == "limited")
        #expect(try await origin.count("wait-awaited") == 1)
        #expect(try client.call("Wait", ["goal": "internet"])["parameters"]?["internet"] == "full")
        #expect(try await origin.count("wait-awaited") == 2)
        await lab.stop()
    }

    @Test(
        "UPL-214 terms that contradict each other name the parameter",
        arguments: [
            (["all": true], "all"), (["interface": "eth0", "ignore": ["eth*"]], "ignore"),
            (["goal": "unreachable", "noCarrierTimeout": 1], "noCarrierTimeout"),
            (["ignore": [""]], "ignore"), (["ignore": [1]], "ignore"), (["interfaces": "eth0"], "interfaces"),
            (["interfaces": .array(Array(repeating: "a", count: 65))], "interfaces"),
        ] as [([String: JSONValue], String)])
    func conflicts(_ parameters: [String: JSONValue], _ name: String) async throws {
        let lab = try await ServiceLab()
        var client = try lab.client()
        let reply = try client.call("Wait", parameters)
        #expect(reply["error"] == "org.varlink.service.InvalidParameter")
        #expect(reply["parameters"]?["parameter"]?.string == name)
        await lab.stop()
    }
}
