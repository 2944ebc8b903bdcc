// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// A manager with two ways to its server, on a real kernel.
@Suite(
    "Connections and their paths",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct PathScenarios {
    private func manager(
        _ paths: TwoPaths, _ change: (inout SessionConfiguration) -> Void = { _ in }
    ) -> URLSessionManager {
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        change(&configuration)
        return URLSessionManager(
            configuration: configuration, securityPolicy: .default, on: paths.lab.near.reactor)
    }

    private func request(_ paths: TwoPaths, _ path: String) throws -> SessionRequest {
        try SessionRequest(paths.base + path)
    }

    private func fetch(
        _ manager: URLSessionManager, _ request: SessionRequest
    ) async throws -> TaskOutcome {
        let task = try manager.dataTask(with: request) { _, _, _ in }
        task.resume()
        return await task.outcome()
    }

    @Test("An idle connection of a dead path is not used again", arguments: TwoPaths.Cut.allCases)
    func idle(_ cut: TwoPaths.Cut) async throws {
        let paths = try await TwoPaths()
        let manager = manager(paths)
        let quick = try request(paths, "/quick")
        #expect(try await fetch(manager, quick).error == nil)
        #expect(try await fetch(manager, quick).metrics.last?.isReusedConnection == true)
        try await paths.cut(cut)
        let outcome = try await fetch(manager, quick)
        #expect(outcome.error == nil)
        #expect(try await paths.requests(3).last?.peer == TwoPaths.secondAddress)
        #expect(outcome.metrics.last?.isReusedConnection == false)
    }

    @Test("RS-128 A path that was left serves what runs on it, and nothing else")
    func left() async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        try await paths.lab.near.ip("route del default via 10.1.0.1")
        let manager = manager(paths)
        let download = try manager.downloadTask(with: try request(paths, "/blob?stall=65536"))
        download.resume()
        try await paths.waitForStalls()
        let quick = try request(paths, "/quick")
        #expect(try await fetch(manager, quick).error == nil)
        #expect(try await paths.requests(2).last?.peer == TwoPaths.secondAddress)
        try await paths.lab.near.ip("route add default via 10.1.0.1 dev a0 metric 50")
        #expect(try await fetch(manager, quick).error == nil)
        #expect(try await paths.requests(3).last?.peer == "10.1.0.2")
        paths.release()
        #expect(await download.outcome().error == nil)
        #expect(try await paths.requests(3).count { $0.path == "/blob" } == 1)
    }

    @Test("Where it is asked for, running downloads go over to a better path")
    func move() async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        try await paths.lab.near.ip("route del default via 10.1.0.1")
        let manager = manager(paths) { $0.betterPath = .move }
        let log = EventLog<Int64>()
        var options = TaskOptions()
        options.downloadProgress = { log.append($0.completedBytes) }
        let download = try manager.downloadTask(
            with: try request(paths, "/blob?stall=262144"), options: options)
        download.resume()
        await log.wait { $0.contains(256 << 10) }
        try await paths.lab.near.ip("route add default via 10.1.0.1 dev a0 metric 50")
        let outcome = await download.outcome()
        #expect(outcome.error == nil)
        let requests = try await paths.requests(2)
        #expect(requests.map(\.peer) == [TwoPaths.secondAddress, "10.1.0.2"])
        #expect(requests.last?.start == 256 << 10)
        #expect(try await paths.difference(of: outcome.filePath ?? "") == "")
    }

    @Test(
        "New connections are bound to the other interface while the preferred one is dead, and no longer than that"
    )
    func standIn() async throws {
        let paths = try await TwoPaths()
        let manager = manager(paths)
        let quick = try request(paths, "/quick")
        #expect(try await fetch(manager, quick).error == nil)
        try await paths.cut(.carrierLost)
        try await paths.lab.near.ip("-o link show a0") { $0.contains("NO-CARRIER") }
        #expect(try await fetch(manager, quick).error == nil)
        #expect(try await fetch(manager, quick).metrics.last?.isReusedConnection == true)
        let requests = try await paths.requests(3)
        #expect(requests.suffix(2).map(\.peer) == [TwoPaths.secondAddress, TwoPaths.secondAddress])
        // What has ended says no more there: nothing looks for the router behind the cable that is out.
        #expect(try await paths.lab.near.ip("neigh show nud all dev a0") == "")
        try await paths.lab.far.ip("link set pa up")
        try await paths.lab.near.ip("-o link show a0") { $0.contains("state UP") }
        // The loop hears of it in its own time: at the latest a new look at the network lies before the next
        // answer.
        #expect(try await fetch(manager, quick).error == nil)
        #expect(try await fetch(manager, quick).error == nil)
        #expect(try await paths.requests(5).last?.peer == "10.1.0.2")
    }

    @Test(
        "Where the router has not been found when the link is back, a connection is tried once more, for a POST too"
    )
    func silentRouter() async throws {
        let paths = try await TwoPaths()
        let manager = manager(paths)
        let near = paths.lab.near
        #expect(try await fetch(manager, request(paths, "/quick")).error == nil)
        // The kernel asks for the router once, and gives up this much later.
        try await near.sysctl("net.ipv4.neigh.a0.mcast_solicit", "1")
        try await near.sysctl("net.ipv4.neigh.a0.retrans_time_ms", "1500")
        try await paths.cut(.carrierLost)
        try await near.ip("-o link show a0") { $0.contains("NO-CARRIER") }
        #expect(try await fetch(manager, request(paths, "/quick")).error == nil)
        // Another program's packet: the question for the router is lost in the cable that is out.
        try await near.run("bash", "-c", "echo >/dev/udp/10.1.0.1/9")
        try await paths.lab.far.ip("link set pa up")
        try await near.ip("-o link show a0") { $0.contains("state UP") }
        // The first may find the connection that stands in.
        #expect(try await fetch(manager, request(paths, "/quick")).error == nil)
        var post = try request(paths, "/quick?post")
        post.method = .post
        post.body = .data(Data("x".utf8))
        #expect(try await fetch(manager, post).error == nil)
        let requests = try await paths.requests(4)
        #expect(requests.last?.peer == "10.1.0.2")
        #expect(requests.count { $0.method == "POST" } == 1)
    }

    /// The second interface has two addresses, and a rule sends on what comes from the second one alone.
    @Test(
        "FLD-007 Over the other interface goes what has the address that a rule sends on",
        arguments: [true, false])
    func sourceRule(_ isStandIn: Bool) async throws {
        let paths = try await TwoPaths()
        try await paths.lab.near.ip(
            batch: """
                route del default via 10.2.0.1
                addr add 10.2.0.9/24 dev b0
                rule add from 10.2.0.9 lookup 202
                route add default via 10.2.0.1 dev b0 table 202
                """)
        let manager = manager(paths) { if !isStandIn { $0.interface = "b0" } }
        if isStandIn {
            try await paths.cut(.carrierLost)
            try await paths.lab.near.ip("-o link show a0") { $0.contains("NO-CARRIER") }
        }
        let quick = try request(paths, "/quick")
        #expect(try await fetch(manager, quick).error == nil)
        #expect(try await paths.requests(1).last?.peer == "10.2.0.9")
        try await paths.lab.near.ip("route add default via 10.2.0.1 dev b0 table 203")
        #expect(try await fetch(manager, quick).metrics.last?.isReusedConnection == true)
    }

    @Test(
        "FLD-007 A download goes on over the other uplink that a rule for its address leads to",
        arguments: [false, true])
    func sourceRuleFailover(_ isIPv6: Bool) async throws {
        let paths = try await TwoPaths(size: 1 << 20, isIPv6: isIPv6)
        let (family, net) = isIPv6 ? ("-6", "2001:db8:2:") : ("-4", "10.2.0")
        let (own, router) = isIPv6 ? ("\(net):2", "\(net):1") : ("\(net).2", "\(net).1")
        for line in [
            "\(family) route del default via \(router)", "\(family) rule add from \(own) lookup 202",
            "\(family) route add default via \(router) dev b0 table 202",
        ] { try await paths.lab.near.ip(line) }
        let manager = manager(paths)
        let download = try manager.downloadTask(with: try request(paths, "/blob?stall=262144"))
        download.resume()
        try await paths.waitForStalls()
        try await paths.cut(.carrierLost)
        let outcome = await download.outcome()
        #expect(outcome.error == nil)
        #expect(try await paths.requests(2).last?.peer == own)
        #expect(try await paths.difference(of: outcome.filePath ?? "") == "")
    }

    @Test("All transfers of a dead path go on, as many as run")
    func many() async throws {
        let paths = try await TwoPaths(size: 512 << 10)
        let manager = manager(paths)
        let blob = try request(paths, "/blob?stall=65536&times=5")
        let log = EventLog<Int64>()
        var options = TaskOptions()
        options.downloadProgress = { log.append($0.completedBytes) }
        let tasks = try (0..<5).map { _ in try manager.downloadTask(with: blob, options: options) }
        for task in tasks { task.resume() }
        await log.wait { $0.count { $0 == 64 << 10 } >= 5 }
        try await paths.cut(.addressRemoved)
        for task in tasks {
            let outcome = await task.outcome()
            #expect(outcome.error == nil)
            #expect(try await paths.difference(of: outcome.filePath ?? "") == "")
            #expect(task.downloadProgress.completedBytes == 512 << 10)
        }
        let again = try await paths.requests(10).filter { $0.peer == TwoPaths.secondAddress }
        #expect(again.count == 5)
        #expect(again.allSatisfy { $0.start == 64 << 10 })
    }
}
