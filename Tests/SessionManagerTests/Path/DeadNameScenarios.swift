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
    private func request(_ client: LineClient, _ query: String) throws -> SessionRequest {
        try client.request("/quick?\(query)", host: "soak.test")
    }

    /// Has what comes over the first cable lose questions for names alone.
    private func killNames(_ paths: TwoPaths) async throws {
        try await paths.lose("udp dport 53", "tcp dport 53")
    }

    @Test(
        "UPL-054 A name that is looked up over a dead line is asked for over the other one, and all goes there"
    )
    func deadLine() async throws {
        let paths = try await TwoPaths()
        guard let names = try await SoakNames.start(paths) else { return }
        defer { names.program.terminate() }
        let client = LineClient(paths)
        try await paths.killLine()
        #expect(try await client.fetch(request(client, "n=1")).error == nil)
        #expect(try await paths.requests(1).map(\.peer) == [TwoPaths.secondAddress])
    }

    @Test("UPL-055 With dead name servers on a line that works requests stay on the line")
    func deadNames() async throws {
        let paths = try await TwoPaths()
        guard let names = try await SoakNames.start(paths) else { return }
        defer { names.program.terminate() }
        try await killNames(paths)
        let client = LineClient(paths)
        let tasks = try (0..<32).map { try client.start(request(client, "n=\($0)")) }
        for task in tasks { #expect(await task.outcome().error == nil) }
        let requests = try await paths.requests(32)
        #expect(requests.count == 32 && requests.allSatisfy { $0.peer == "10.1.0.2" })
    }

    @Test("UPL-056 A name server that answers late moves nothing")
    func slowNames() async throws {
        let paths = try await TwoPaths()
        guard let names = try await SoakNames.start(paths) else { return }
        defer { names.program.terminate() }
        try await killNames(paths)
        let client = LineClient(paths)
        let task = try client.start(request(client, "n=1"))
        // It was asked for over the other uplink.
        try await paths.wait(forPackets: 2, through: TwoPaths.second)
        try await paths.endLoss()
        #expect(await task.outcome().error == nil)
        #expect(try await paths.requests(1).map(\.peer) == ["10.1.0.2"])
    }

    @Test("UPL-057 The address that a name had before is tried where no name server answers any more")
    func keptAddress() async throws {
        let paths = try await TwoPaths()
        guard let names = try await SoakNames.start(paths) else { return }
        defer { names.program.terminate() }
        let client = LineClient(paths)
        #expect(try await client.fetch(request(client, "n=1")).error == nil)
        names.program.terminate()
        try await paths.killLine()
        // Another kind of traffic has connections of its own, and looks all names up.
        var background = try request(client, "n=2")
        background.options.networkServiceType = .background
        #expect(try await client.fetch(background).error == nil)
        #expect(try await paths.requests(2).map(\.peer) == ["10.1.0.2", TwoPaths.secondAddress])
    }
}
