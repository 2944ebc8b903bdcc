// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Names that are looked up while name servers, or the line to them, are dead.
@Suite(
    "Names over a dead line",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct DeadNameScenarios {
    private func manager(_ paths: TwoPaths) -> URLSessionManager {
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        return URLSessionManager(
            configuration: configuration, securityPolicy: .default, on: paths.lab.near.reactor)
    }

    private func fetch(_ manager: URLSessionManager, _ query: String) async throws -> TaskOutcome {
        let request = try SessionRequest("http://soak.test:8080/quick?\(query)")
        let task = try manager.dataTask(with: request) { _, _, _ in }
        task.resume()
        return await task.outcome()
    }

    /// The name server of the lab; nil where none can be played.
    private func names(_ paths: TwoPaths) async throws -> SoakNames? {
        let names = try await SoakNames.start(paths.lab.far)
        #expect(names != nil || !NetworkLab.isRequired, "no name server of resolv.conf can be played here")
        return names
    }

    /// Has what comes over the first cable lose questions for names alone.
    private func killNames(_ paths: TwoPaths) async throws {
        try await paths.lab.far.run(
            "nft",
            "add table inet names; add chain inet names i { type filter hook input priority 0; }; "
                + "add rule inet names i iifname pa udp dport 53 drop; "
                + "add rule inet names i iifname pa tcp dport 53 drop")
    }

    @Test(
        "UPL-054 A name that is looked up over a dead line is asked for over the other one, and all goes there"
    )
    func deadLine() async throws {
        let paths = try await TwoPaths()
        guard let names = try await names(paths) else { return }
        defer { names.program.terminate() }
        let manager = manager(paths)
        try await paths.killLine()
        #expect(try await fetch(manager, "n=1").error == nil)
        #expect(try await paths.requests(1).map(\.peer) == [TwoPaths.secondAddress])
    }

    @Test("UPL-055 With dead name servers on a line that works requests stay on the line")
    func deadNames() async throws {
        let paths = try await TwoPaths()
        guard let names = try await names(paths) else { return }
        defer { names.program.terminate() }
        try await killNames(paths)
        let manager = manager(paths)
        let tasks = try (0..<32).map { number in
            try manager.dataTask(with: try SessionRequest("http://soak.test:8080/quick?n=\(number)"))
        }
        for task in tasks { task.resume() }
        for task in tasks { #expect(await task.outcome().error == nil) }
        let requests = try await paths.requests(32)
        #expect(requests.count == 32 && requests.allSatisfy { $0.peer == "10.1.0.2" })
    }

    @Test("UPL-056 A name server that answers late moves nothing")
    func slowNames() async throws {
        let paths = try await TwoPaths()
        guard let names = try await names(paths) else { return }
        defer { names.program.terminate() }
        try await killNames(paths)
        let manager = manager(paths)
        let task = try manager.dataTask(with: try SessionRequest("http://soak.test:8080/quick"))
        task.resume()
        // It was asked for over the other uplink.
        try await paths.wait(forPackets: 2, through: TwoPaths.second)
        try await paths.lab.far.run("nft", "delete table inet names")
        #expect(await task.outcome().error == nil)
        #expect(try await paths.requests(1).map(\.peer) == ["10.1.0.2"])
    }

    @Test("UPL-057 The address that a name had before is tried where no name server answers any more")
    func keptAddress() async throws {
        let paths = try await TwoPaths()
        guard let names = try await names(paths) else { return }
        defer { names.program.terminate() }
        let manager = manager(paths)
        #expect(try await fetch(manager, "n=1").error == nil)
        names.program.terminate()
        try await paths.killLine()
        // Another kind of traffic has connections of its own, and looks all names up.
        var request = try SessionRequest("http://soak.test:8080/quick?n=2")
        request.options.networkServiceType = .background
        let task = try manager.dataTask(with: request) { _, _, _ in }
        task.resume()
        #expect(await task.outcome().error == nil)
        #expect(try await paths.requests(2).map(\.peer) == ["10.1.0.2", TwoPaths.secondAddress])
    }
}
