// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Reachability
import ReachabilityCore
import SessionCore
import SessionManager
import TestSupport
import Testing

/// A probe whose server has a name, while a line or the name servers behind it are dead.
@Suite(
    "The names of a probe",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct ProbedNameScenarios {
    private func probe(_ paths: TwoPaths) throws -> InternetProbe {
        let url = try SessionRequest("http://soak.test:8080/quick").url
        var configuration = InternetProbeConfiguration(url)
        configuration.longestPause = .seconds(1)
        var session = SessionConfiguration()
        session.proxy = ""
        return InternetProbe(
            configuration, provider: LineClient.monitor(paths), session: session,
            on: paths.lab.near.reactor)
    }

    private func states(_ probe: InternetProbe, _ first: InternetState, _ second: InternetState) async {
        for await uplinks in probe.uplinkChanges where uplinks.map(\.state) == [first, second] { return }
    }

    @Test("UPL-408 the line in use is dead: the other one asks name servers itself, and is full")
    func preferred() async throws {
        let paths = try await TwoPaths()
        guard let names = try await SoakNames.start(paths) else { return }
        defer { names.program.terminate() }
        try await paths.killLine()
        let probe = try probe(paths)
        probe.start()
        await states(probe, .limited, .full)
        #expect(Set(try await paths.requests(1).map(\.peer)) == [TwoPaths.secondAddress])
        // The last address stays where no name server answers any more.
        names.program.terminate()
        let asked = try await paths.requests(1).count
        probe.check()
        _ = try await paths.requests(asked + 1)
        await states(probe, .limited, .full)
    }

    @Test("UPL-408 the other line is dead, or only the name servers behind it: it is told as it is")
    func other() async throws {
        let paths = try await TwoPaths()
        guard let names = try await SoakNames.start(paths) else { return }
        defer { names.program.terminate() }
        try await paths.lose("udp dport 53", "tcp dport 53", over: "pb")
        let probe = try probe(paths)
        probe.start()
        // The system's resolver is asked, over the line that works.
        await states(probe, .full, .full)
        #expect(
            Set(try await paths.requests(2).compactMap(\.peer)) == ["10.1.0.2", TwoPaths.secondAddress])
        try await paths.killLine("pb")
        probe.check()
        await states(probe, .full, .limited)
    }

    @Test("UPL-409 dead name servers before one that answers cost a moment, not 2 s each")
    func deadServers() async throws {
        let paths = try await TwoPaths()
        guard let names = try await SoakNames.start(paths) else { return }
        defer { names.program.terminate() }
        // Nothing answers at these, not even that they are not there.
        try await paths.lab.far.ip("route add blackhole 10.8.0.0/24")
        let servers = ["10.8.0.1", "10.8.0.2", "10.8.0.3", "10.8.0.4"].compactMap { NameServer($0) }
        let good = NameServerFiles().servers(for: 0, name: TwoPaths.second)
        let answers = EventLog<[IPAddress]>()
        let reactor = paths.lab.near.reactor
        let clock = ContinuousClock()
        let start = clock.now
        let resolver = try await reactor.result {
            LoopBound(
                LinkResolver("soak.test", over: TwoPaths.second, servers: servers + good, on: reactor) {
                    answers.append($0)
                }, to: reactor)
        }
        #expect(await answers.wait(forCount: 1) == [[try #require(IPAddress("10.9.0.1"))]])
        // One after the other, they would have taken 8 s.
        #expect(clock.now - start < .seconds(6))
        resolver.perform { $0.cancel() }
    }
}
