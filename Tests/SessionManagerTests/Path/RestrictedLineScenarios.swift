// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// What must not leave a dead line, or not over every uplink: tunnels, and traffic that costs.
@Suite(
    "Tunnels and costs over a dead line",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct RestrictedLineScenarios {
    /// A lab with a tunnel over the first line; nil where the kernel has no tunnels.
    private func tunnelled() async throws -> TwoPaths? {
        let paths = try await TwoPaths(size: 1 << 20, isEverywhere: true)
        if try await paths.addTunnel() { return paths }
        #expect(!NetworkLab.isRequired, "no vxlan device is possible here")
        return nil
    }

    @Test(
        "UPL-310 A connection into a tunnel stays in it when the line under it dies; what goes beside it moves"
    )
    func tunnel() async throws {
        guard let paths = try await tunnelled() else { return }
        let client = LineClient(paths)
        let inside = try client.download(client.request("/blob?stall=65536"))
        let beside = try client.download(client.request("/blob?stall=65536&beside", host: "10.9.0.3"))
        try await paths.waitForStalls(2)
        try await paths.killLine()
        #expect(try await client.end(of: beside) == nil)
        // The detour is there, and does not lead around the tunnel.
        let next = try client.start(client.request("/quick"))
        try await paths.wait(forPackets: 2, through: "vx0")
        #expect(inside.state == .running && next.state == .running)
        try await paths.reviveLine()
        paths.release()
        #expect(try await client.end(of: inside) == nil)
        #expect(await next.outcome().error == nil)
        let requests = try await paths.events.filter { $0.event == "request" }
        #expect(requests.filter { $0.server == "10.9.0.3" }.map(\.peer) == ["10.1.0.2", "10.2.0.2"])
        let through = requests.filter { $0.server == "10.9.0.1" }
        #expect(through.map(\.path) == ["/blob", "/quick"])
        #expect(through.allSatisfy { $0.peer == TwoPaths.tunnelAddress })
    }

    @Test("UPL-311 When the tunnel itself is gone, its transfers go on over the uplink that works")
    func deadTunnel() async throws {
        guard let paths = try await tunnelled() else { return }
        let client = LineClient(paths)
        let download = try client.download(client.request("/blob?stall=65536"))
        try await paths.waitForStalls()
        try await paths.killLine()
        try await paths.lab.near.ip("link del vx0")
        #expect(try await client.end(of: download) == nil)
        #expect(
            try await paths.events.peers(of: "/blob") == [TwoPaths.tunnelAddress, TwoPaths.secondAddress])
    }

    @Test(
        "UPL-312 What must not cost waits with that reason while others use the expensive uplink, and returns"
    )
    func expensive() async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        let monitor = LineClient.monitor(paths) { $0.expensiveInterfaces = [TwoPaths.second] }
        let client = LineClient(paths, follows: .provider(monitor))
        var cheap = try client.request("/blob?stall=65536&cheap")
        cheap.options.allowsExpensiveNetwork = false
        let download = try client.download(cheap)
        let other = try client.download(client.request("/blob?stall=65536&other"))
        try await paths.waitForStalls(2)
        try await paths.killLine()
        #expect(try await client.end(of: other) == nil)
        #expect(await client.counts.wait { $0.last?.waitingForNetwork == 1 }.isEmpty == false)
        #expect(download.waitingReason == .condition(.notExpensive))
        var post = try client.request("/quick?cheap", .post)
        post.options.allowsExpensiveNetwork = false
        let waiting = try client.start(post)
        #expect(await client.counts.wait { $0.last?.waitingForNetwork == 2 }.isEmpty == false)
        #expect(waiting.waitingReason == .condition(.notExpensive))
        try await paths.reviveLine()
        #expect(try await client.end(of: download) == nil)
        #expect(await waiting.outcome().error == nil)
        let events = try await paths.events
        #expect(events.peers(of: "/blob", query: "stall=65536&other") == ["10.1.0.2", "10.2.0.2"])
        #expect(events.peers(of: "/blob", query: "stall=65536&cheap") == ["10.1.0.2", "10.1.0.2"])
        #expect(events.peers(of: "/quick") == ["10.1.0.2"])
    }
}
