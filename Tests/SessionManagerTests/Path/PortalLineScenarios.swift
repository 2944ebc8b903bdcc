// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Queues with a probe of the internet, whose routers answer in the place of the server.
@Suite(
    "Portals behind the routers",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct PortalLineScenarios {
    private func probe(_ paths: TwoPaths, _ monitor: ReachabilityManager) throws -> InternetProbe {
        var session = SessionConfiguration()
        session.proxy = ""
        var configuration = InternetProbeConfiguration(try SessionRequest("\(paths.base)/quick?probe").url)
        configuration.timeout = .seconds(1)
        configuration.firstPause = .milliseconds(100)
        configuration.longestPause = .milliseconds(100)
        return InternetProbe(configuration, provider: monitor, session: session, on: paths.lab.near.reactor)
    }

    /// The first uplinks with these states, when the queue knows them too.
    private func states(
        of probe: InternetProbe, _ wanted: [InternetState], _ paths: TwoPaths
    ) async -> [UplinkInternet] {
        for await uplinks in probe.uplinkChanges where uplinks.map(\.state) == wanted {
            // The end of the turn in which the probe reports it, and the queue's own.
            for _ in 0..<2 { try? await paths.lab.near.reactor.result {} }
            return uplinks
        }
        return []
    }

    @Test(
        "UPL-319 Behind portals on both lines a task that needs the internet waits, and leaves after the sign-in",
        .timeLimit(.minutes(10)))
    func both() async throws {
        let paths = try await TwoPaths()
        let portal = try await paths.addPortal(["pa", "pb"])
        let monitor = LineClient.monitor(paths)
        let client = LineClient(paths, follows: .provider(monitor))
        let probe = try probe(paths, monitor)
        client.manager.queue.internetProbe = probe
        probe.start()
        let uplinks = await states(of: probe, [.portal, .portal], paths)
        #expect(
            uplinks.map { $0.portalURL?.absoluteString } == [
                "http://10.1.0.1:8090/login", "http://10.2.0.1:8090/login",
            ])
        var options = TaskOptions()
        options.requiresInternet = true
        let task = try client.manager.dataTask(with: client.request("/quick?own", .post), options: options)
        task.resume()
        #expect(await client.counts.wait { $0.last?.waitingForNetwork == 1 }.isEmpty == false)
        #expect(task.waitingReason == .internet)
        // The sign-in counts for the preferred line alone.
        try await paths.removePortal("pa")
        #expect(await task.outcome().error == nil)
        #expect(try await paths.events.peers(of: "/quick", query: "own") == ["10.1.0.2"])
        #expect(!portal.output.elements.contains { $0.contains("own") })
        #expect(await states(of: probe, [.full, .portal], paths).first?.interface == "a0")
    }

    /// A POST without TLS, while the preferred line is dead and the other one has a portal, gets to the
    /// server alone, over its own line.
    @Test(
        "UPL-433 Nothing without TLS leaves a dead line for a portal, neither by a race nor on a way around it",
        .timeLimit(.minutes(10)), arguments: [true, false])
    func deadLine(isDetoured: Bool) async throws {
        let paths = try await TwoPaths()
        let monitor = LineClient.monitor(paths)
        let client = LineClient(paths, follows: .provider(monitor))
        let probe = try probe(paths, monitor)
        client.manager.queue.internetProbe = probe
        var portal = isDetoured ? nil : try await paths.addPortal(["pb"])
        probe.start()
        _ = await states(of: probe, [.full, isDetoured ? .full : .portal], paths)
        try await paths.killLine()
        if isDetoured {
            probe.check()
            _ = await states(of: probe, [.limited, .full], paths)
            portal = try await paths.addPortal(["pb"])
            probe.check()
            _ = await states(of: probe, [.limited, .portal], paths)
        }
        let task = try client.start(client.request("/quick?own", .post))
        #expect(await client.counts.wait { $0.last?.waitingForNetwork == 1 }.isEmpty == false)
        #expect(task.waitingReason == .internet)
        try await paths.reviveLine()
        #expect(await task.outcome().error == nil)
        #expect(try await paths.events.peers(of: "/quick", query: "own") == ["10.1.0.2"])
        #expect(portal?.output.elements.contains { $0.contains("own") } == false)
    }

    @Test(
        "UPL-320 A portal on the preferred line is found while the other one has internet",
        .timeLimit(.minutes(10)))
    func preferred() async throws {
        let paths = try await TwoPaths()
        let probe = try probe(paths, LineClient.monitor(paths))
        probe.start()
        #expect(await states(of: probe, [.full, .full], paths).count == 2)
        let portal = try await paths.addPortal(["pa"])
        probe.check()
        let found = await states(of: probe, [.portal, .full], paths)
        #expect(found.first?.isPreferred == true && probe.state == .portal)
        #expect(probe.portalURL?.absoluteString == "http://10.1.0.1:8090/login")
        await portal.output.wait { $0.contains("10.1.0.2 /quick?probe") }
        try await paths.removePortal("pa")
        #expect(await states(of: probe, [.full, .full], paths).count == 2)
        #expect(probe.state == .full && probe.portalURL == nil)
    }
}
