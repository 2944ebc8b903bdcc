// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// A manager with a probe and two uplinks to its server.
private struct ProbedPaths {
    let paths: TwoPaths
    let client: LineClient
    let probe: InternetProbe
    var manager: URLSessionManager { client.manager }

    /// - Parameter names: addresses of hosts, as CURLOPT_RESOLVE(3) has them.
    init(
        _ paths: TwoPaths, names: [String] = [], change: (inout InternetProbeConfiguration) -> Void = { _ in }
    )
        throws
    {
        self.paths = paths
        let monitor = LineClient.monitor(paths)
        client = LineClient(paths, addresses: names, follows: .provider(monitor))
        var configuration = InternetProbeConfiguration(try client.request("/quick?probe").url)
        configuration.timeout = .seconds(1)
        configuration.longestPause = .seconds(1)
        change(&configuration)
        var session = SessionConfiguration()
        session.proxy = ""
        session.hostAddresses = names
        probe = InternetProbe(
            configuration, provider: monitor, session: session, on: paths.lab.near.reactor)
        manager.queue.internetProbe = probe
    }

    /// Asks, and waits until the first uplink and the second one are in these states.
    func ask(_ first: InternetState, _ second: InternetState) async {
        probe.start()
        probe.check()
        for await uplinks in probe.uplinkChanges where uplinks.map(\.state) == [first, second] { return }
    }

    func fetch(_ path: String) async throws -> TaskOutcome { try await client.fetch(path) }

    /// The requests that have arrived, besides the probe's.
    func requests(_ count: Int) async throws -> [TwoPaths.Event] {
        @Sendable func own(_ events: [TwoPaths.Event]) -> [TwoPaths.Event] {
            events.filter { $0.event == "request" && $0.query != "probe" }
        }
        return own(try await paths.wait { own($0).count >= count })
    }

    /// The first event that is looked for.
    func event(_ events: AsyncStream<SessionEvent>, where condition: (SessionEvent) -> Bool) async {
        for await event in events where condition(event) { return }
    }
}

@Suite(
    "The line behind the router, with a probe",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct ProbedLineScenarios {
    @Test(
        "UPL-045 New requests go over the uplink that the probe has found full, and none over the dead line")
    func new() async throws {
        let lab = try ProbedPaths(try await TwoPaths())
        await lab.ask(.full, .full)
        #expect(try await lab.fetch("/quick").error == nil)
        try await lab.paths.killLine()
        await lab.ask(.limited, .full)
        let steps = EventLog<String>()
        lab.manager.eventMonitors = [
            EventMonitor {
                if case .sent = $1 { steps.append("sent") }
                if case .completed = $1 { steps.append("completed") }
            }
        ]
        #expect(try await lab.fetch("/quick").error == nil)
        // It was not sent over the dead line before.
        #expect(await steps.wait { $0.contains("completed") } == ["sent", "completed"])
        #expect(try await lab.requests(2).map(\.peer) == ["10.1.0.2", TwoPaths.secondAddress])
        let detour = try #require(lab.manager.queue.detour)
        #expect(detour.line == "a0" && detour.uplink == "b0")
        #expect(detour.sentence.hasPrefix("a0: the internet was not found behind it ("))
    }

    @Test("UPL-046 A running download goes on over the uplink that the probe has found, by its verdict alone")
    func running() async throws {
        let lab = try ProbedPaths(try await TwoPaths(size: 1 << 20))
        await lab.ask(.full, .full)
        let parked = EventLog<String>()
        lab.manager.eventMonitors = [
            EventMonitor { if case .parked(let why) = $1 { parked.append(why) } }
        ]
        let download = try await lab.client.stalledDownload()
        // Connections are made there, so that no race is won, and nothing else comes through.
        try await lab.paths.lose("tcp flags & syn == 0")
        await lab.ask(.limited, .full)
        lab.paths.release()
        #expect(try await lab.client.end(of: download) == nil)
        let requests = try await lab.requests(2)
        #expect(requests.last?.peer == TwoPaths.secondAddress && requests.last?.start ?? 0 >= 65536)
        await parked.wait { $0 == ["no internet was found behind a0"] }
    }

    @Test("UPL-047 A dead connection has the probe ask at once, long before its time")
    func suspicion() async throws {
        let lab = try ProbedPaths(try await TwoPaths(size: 1 << 20))
        await lab.ask(.full, .full)
        let download = try await lab.client.stalledDownload()
        try await lab.paths.killLine()
        lab.paths.release()
        // Not asked for by anything else for ten minutes.
        for await uplinks in lab.probe.uplinkChanges where uplinks.map(\.state) == [.limited, .full] { break }
        #expect(try await lab.client.end(of: download) == nil)
    }

    @Test("UPL-048 A transfer whose bytes are acknowledged stays on a line that the probe finds dead")
    func acknowledged() async throws {
        let lab = try ProbedPaths(try await TwoPaths(size: 1 << 20))
        await lab.ask(.full, .full)
        let download = try await lab.client.stalledDownload()
        // New connections fail there, and nothing else does.
        try await lab.paths.lose("tcp flags & (syn|ack) == syn")
        await lab.ask(.limited, .full)
        #expect(try await lab.fetch("/quick").error == nil)
        // Three keepalive probes are answered.
        try await lab.paths.wait(forPackets: 3, through: TwoPaths.first)
        lab.paths.release()
        #expect(try await lab.client.end(of: download) == nil)
        let requests = try await lab.requests(2)
        #expect(requests.map(\.peer) == ["10.1.0.2", TwoPaths.secondAddress], "\(requests)")
    }

    @Test("UPL-049 Both lines dead: 32 requests wait for the internet, and each goes once when one is back")
    func bothDead() async throws {
        let lab = try ProbedPaths(try await TwoPaths())
        await lab.ask(.full, .full)
        try await lab.paths.killLine("pb")
        try await lab.paths.killLine("pa")
        await lab.ask(.limited, .limited)
        let events = lab.manager.events
        let tasks = try (0..<32).map {
            try lab.manager.dataTask(with: try lab.client.request("/quick?n=\($0)"))
        }
        for task in tasks { task.resume() }
        var held: Set<Int> = []
        for await event in events {
            if case .held(let task, .internet) = event { held.insert(task.identifier) }
            if held.count == tasks.count { break }
        }
        #expect(lab.manager.queue.internetSentence.hasPrefix("a0: no answer in 1 s; b0: "))
        try await lab.paths.reviveLine("pb")
        for task in tasks { #expect(await task.outcome().error == nil) }
        let requests = try await lab.requests(32)
        #expect(requests.count == 32 && Set(requests.compactMap(\.query)).count == 32)
        #expect(requests.allSatisfy { $0.peer == TwoPaths.secondAddress })
        #expect(lab.manager.queue.internetSentence == "")
    }

    @Test("UPL-050 Both lines dead: a running download waits for the internet, and goes on by range")
    func bothDeadRunning() async throws {
        let lab = try ProbedPaths(try await TwoPaths(size: 1 << 20))
        await lab.ask(.full, .full)
        let events = lab.manager.events
        let download = try await lab.client.stalledDownload()
        try await lab.paths.killLine("pb")
        try await lab.paths.killLine("pa")
        lab.paths.release()
        await lab.event(events) { if case .held(_, .internet) = $0 { true } else { false } }
        #expect(download.waitingReason == .internet)
        try await lab.paths.reviveLine("pa")
        #expect(try await lab.client.end(of: download) == nil)
        let requests = try await lab.requests(2)
        #expect(requests.count == 2 && requests.last?.start ?? 0 >= 65536)
    }

    @Test("UPL-051 Traffic returns to the preferred line when it has been full for a while; what runs stays")
    func returns() async throws {
        let lab = try ProbedPaths(try await TwoPaths(size: 1 << 20)) { $0.fullPause = .seconds(1) }
        try await lab.paths.killLine()
        await lab.ask(.limited, .full)
        let download = try await lab.client.stalledDownload()
        try await lab.paths.reviveLine()
        var count = 1
        repeat {
            count += 1
            // Once for each answer of the probe.
            let asked = try await lab.paths.events.count { $0.query == "probe" }
            try await lab.paths.wait { $0.count { $0.query == "probe" } > asked }
            #expect(try await lab.fetch("/quick?n=\(count)").error == nil)
        } while try await lab.requests(count).last?.peer == TwoPaths.secondAddress && count < 60
        #expect(try await lab.requests(count).last?.peer == "10.1.0.2")
        lab.paths.release()
        #expect(try await lab.client.end(of: download) == nil)
        let requests = try await lab.requests(count)
        #expect(requests.count == count && Set(requests.compactMap(\.query)).count == count)
    }

    @Test("UPL-052 Behind a portal plain http to a name waits, and https and addresses do not")
    func portal() async throws {
        // The answer of another server than one's own.
        let lab = try ProbedPaths(try await TwoPaths(), names: ["own.test:8080:10.9.0.1"]) {
            $0.expectation = InternetExpectation(statusCodes: [204...204])
        }
        await lab.ask(.portal, .portal)
        let events = lab.manager.events
        let task = try lab.manager.dataTask(with: try lab.client.request("/quick?name", host: "own.test"))
        task.resume()
        await lab.event(events) { if case .held(_, .internet) = $0 { true } else { false } }
        #expect(task.waitingReason == .internet)
        #expect(try await lab.fetch("/quick?address").error == nil)
        #expect(try await lab.requests(1).map(\.query) == ["address"])
        // Sent, though that server does not speak TLS.
        let secure = try lab.manager.dataTask(with: try SessionRequest("https://own.test:8080/quick?tls"))
        secure.resume()
        #expect(await secure.outcome().error?.code == .secureConnectionFailed)
        // Without a probe nothing is known of a portal.
        lab.manager.queue.internetProbe = nil
        #expect(await task.outcome().error == nil)
        #expect(try await lab.requests(2).map(\.query) == ["address", "name"])
    }

    @Test("UPL-053 Nothing steers where the queue rescues nothing, and from then on where it does again")
    func never() async throws {
        let lab = try ProbedPaths(try await TwoPaths())
        lab.manager.queue.rescue = .never
        // The probe's server alone is not reached there.
        try await lab.paths.lose("tcp flags & (syn|ack) == syn")
        await lab.ask(.limited, .full)
        let task = try lab.manager.dataTask(with: try lab.client.request("/quick"))
        task.resume()
        try await lab.paths.wait(forPackets: 2, through: TwoPaths.first)
        lab.manager.queue.rescue = .automatic
        #expect(await task.outcome().error == nil)
        #expect(try await lab.requests(1).map(\.peer) == [TwoPaths.secondAddress])
    }
}
