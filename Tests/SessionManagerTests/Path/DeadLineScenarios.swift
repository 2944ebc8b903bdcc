// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// A manager with two uplinks to its server, where the line behind one router dies.
@Suite(
    "The line behind the router",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct DeadLineScenarios {
    @Test(
        "UPL-030 A download goes on over the other uplink when its line dies",
        arguments: TwoPaths.Direction.allCases)
    func download(_ direction: TwoPaths.Direction) async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        let client = LineClient(paths)
        let download = try await client.stalledDownload()
        try await paths.killLine("pa", direction)
        paths.release()
        #expect(try await client.end(of: download) == nil)
        let requests = try await paths.requests(2)
        #expect(requests.last?.peer == TwoPaths.secondAddress)
        #expect(requests.last?.start ?? 0 >= 65536)
    }

    @Test("UPL-037 An upload from a file goes on over the other uplink when its line dies")
    func upload() async throws {
        let paths = try await TwoPaths(rate: 1 << 20)
        let client = LineClient(paths)
        var request = try client.request("/sink")
        request.method = .put
        let log = EventLog<Int64>()
        var options = TaskOptions()
        options.uploadProgress = { log.append($0.completedBytes) }
        let content = Data((0..<(4 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let task = try client.manager.uploadTask(with: request, from: content, options: options) { _, _, _ in
        }
        task.resume()
        await log.wait { $0.contains { $0 > 1 << 20 } }
        try await paths.killLine()
        #expect(await task.outcome().error == nil)
        #expect(try await paths.requests(2).last?.peer == TwoPaths.secondAddress)
    }

    @Test("UPL-038 A connection that loses its packets on a line that answers stays there")
    func lossy() async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        let client = LineClient(paths)
        let download = try await client.stalledDownload()
        // All but SYNs is lost: the server answers those.
        try await paths.lose("tcp flags & syn == 0")
        paths.release()
        // Keepalive probes, and then the SYNs of a race.
        try await paths.wait(forPackets: 3, through: TwoPaths.second)
        try await paths.endLoss()
        #expect(try await client.end(of: download) == nil)
        #expect(try await paths.requests(1).map(\.peer) == ["10.1.0.2"])
    }

    @Test("UPL-031 A new request connects over the other uplink where the line is dead before")
    func connect() async throws {
        let paths = try await TwoPaths()
        try await paths.killLine()
        let client = LineClient(paths)
        #expect(try await client.fetch("/quick").error == nil)
        #expect(try await client.fetch("/quick").error == nil)
        #expect(try await paths.requests(2).map(\.peer) == [TwoPaths.secondAddress, TwoPaths.secondAddress])
    }

    @Test("UPL-032 A silent server on a line that works is waited for")
    func silentServer() async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        let client = LineClient(paths)
        let download = try await client.stalledDownload()
        // Longer than a deaf connection needs: two keepalive probes have been answered by then.
        try await paths.wait(forPackets: 3, through: TwoPaths.first)
        paths.release()
        #expect(try await client.end(of: download) == nil)
        let requests = try await paths.requests(1)
        #expect(requests.map(\.peer) == ["10.1.0.2"])
        // Its server was not tried elsewhere: no neighbour was looked for.
        #expect(try await paths.lab.near.ip("neigh show nud all dev b0 10.2.0.1") == "")
    }

    @Test("UPL-033 Where both lines are dead nothing moves, and the download goes on when one comes back")
    func bothDead() async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        let client = LineClient(paths)
        let download = try await client.stalledDownload()
        try await paths.killLine("pb")
        try await paths.killLine("pa")
        paths.release()
        try await paths.wait(forPackets: 2, through: TwoPaths.second)
        try await paths.reviveLine("pb")
        #expect(try await client.end(of: download) == nil)
    }

    @Test(
        "UPL-034 Nothing goes over an expensive uplink that must not, or where the queue rescues nothing",
        arguments: [true, false])
    func forbidden(_ isExpensive: Bool) async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        let monitor = LineClient.monitor(paths) { $0.expensiveInterfaces = [TwoPaths.second] }
        let client = LineClient(paths, follows: .provider(monitor))
        if !isExpensive { client.manager.queue.rescue = .never }
        let download = try await client.stalledDownload {
            if isExpensive { $0.allowsExpensiveNetwork = false }
        }
        try await paths.killLine()
        // Silent for so long that a deaf connection would have been tried elsewhere.
        if isExpensive { try await paths.wait(forPackets: 5, through: TwoPaths.first) }
        paths.release()
        try await paths.reviveLine()
        #expect(try await client.end(of: download) == nil)
        #expect(try await paths.requests(1).map(\.peer) == ["10.1.0.2"])
        // Nothing was tried there: no neighbour was looked for.
        #expect(try await paths.lab.near.ip("neigh show nud all dev b0 10.2.0.1") == "")
    }

    @Test("UPL-035 Traffic to the link itself stays there while what goes beyond the router is detoured")
    func onLink() async throws {
        let paths = try await TwoPaths(isEverywhere: true)
        try await paths.killLine()
        let client = LineClient(paths)
        #expect(try await client.fetch("/quick").error == nil)
        #expect(try await client.fetch(client.request("/quick", host: "10.1.0.1")).error == nil)
        #expect(try await paths.requests(2).map(\.peer) == [TwoPaths.secondAddress, "10.1.0.2"])
    }

    @Test("UPL-044 Names are asked for over the uplink that carries the transfers")
    func names() async throws {
        let paths = try await TwoPaths()
        guard let names = try await SoakNames.start(paths) else { return }
        defer { names.program.terminate() }
        let client = LineClient(paths)
        try await paths.killLine()
        #expect(try await client.fetch("/quick").error == nil)
        #expect(try await client.fetch(client.request("/quick", host: "soak.test")).error == nil)
        #expect(try await paths.requests(2).last?.peer == TwoPaths.secondAddress)
    }

    @Test("UPL-058 A download over a connection that was kept from an earlier request leaves the dead line")
    func keptConnection() async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        let client = LineClient(paths)
        #expect(try await client.fetch("/quick").error == nil)
        let download = try await client.stalledDownload()
        try await paths.killLine()
        paths.release()
        #expect(try await client.end(of: download) == nil)
        #expect(try await paths.requests(3).map(\.peer) == ["10.1.0.2", "10.1.0.2", TwoPaths.secondAddress])
    }

    @Test("UPL-036 A request over TLS goes on there only where the handshake succeeds")
    func secure() async throws {
        let paths = try await TwoPaths(size: 1 << 20, isSecure: true)
        var policy = SecurityPolicy.default
        policy.trustRoots = .only(.file("\(paths.folder)/server.pem"))
        let client = LineClient(paths, policy: policy)
        let download = try await client.stalledDownload()
        try await paths.killLine()
        paths.release()
        #expect(try await client.end(of: download) == nil)
        #expect(try await paths.requests(2).last?.peer == TwoPaths.secondAddress)
    }
}
