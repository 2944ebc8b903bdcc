// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import ReachabilityCore
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Queues that ask for a network, on two cables of which the kernel prefers the first.
@Suite(
    "A queue bound to a network",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct RequiredNetworkScenarios {
    private static let firstAddress = "10.1.0.2"

    private func following(_ paths: TwoPaths, _ source: NetworkSource) -> FollowingManager {
        FollowingManager(source, in: paths.lab.near)
    }

    private func fetch(_ following: FollowingManager, _ url: String) async throws -> TaskOutcome {
        let task = try following.manager.dataTask(with: try SessionRequest(url)) { _, _, _ in }
        task.resume()
        return await task.outcome()
    }

    /// A download of which 64 KiB have come when this returns.
    private func begin(_ following: FollowingManager, _ paths: TwoPaths) async throws -> SessionTask {
        let bytes = EventLog<Int64>()
        var options = TaskOptions()
        options.downloadProgress = { bytes.append($0.completedBytes) }
        let request = try SessionRequest("\(paths.base)/blob?stall=65536")
        let download = try following.manager.downloadTask(with: request, options: options)
        download.resume()
        await bytes.wait { $0.last == 65536 }
        return download
    }

    /// A manager of the program's own that requires a network.
    private func provider(
        _ paths: TwoPaths, _ requirement: NetworkRequirement
    ) -> ReachabilityManager {
        var configuration = ReachabilityConfiguration()
        configuration.networkNamespace = paths.lab.near.path
        return ReachabilityManager(requiring: requirement, configuration: configuration)
    }

    @Test(
        "UPL-141 requests go over the interface that is asked for, others of the program over the kernel's choice"
    )
    func bound() async throws {
        let paths = try await TwoPaths()
        let monitor = provider(paths, .interface(TwoPaths.second))
        monitor.startMonitoring()
        let free = following(paths, .none)
        let own = following(paths, .requiring(.interface(TwoPaths.second)))
        let given = following(paths, .provider(monitor))
        for following in [own, free, given, own] {
            #expect(try await fetch(following, "\(paths.base)/quick").error == nil)
        }
        let second = TwoPaths.secondAddress
        #expect(try await paths.requests(4).map(\.peer) == [second, Self.firstAddress, second, second])
    }

    @Test("UPL-142 they wait while it has no path, with what it lacks as the reason, and never go elsewhere")
    func waits() async throws {
        let paths = try await TwoPaths()
        try await paths.lab.far.ip("link set pb down")
        try await paths.lab.near.ip("-o link show dev b0") { $0.contains("NO-CARRIER") }
        let following = following(paths, .requiring(.interface(TwoPaths.second)))
        let task = try following.manager.dataTask(with: try SessionRequest("\(paths.base)/quick")) {
            _, _, _ in
        }
        task.resume()
        await following.counts.wait { $0.last?.waitingForNetwork == 1 }
        #expect(task.waitingReason == .network("b0: no carrier"))
        // A manager that was never started, or is stopped, knows of no interface.
        let unknown = self.following(paths, .provider(provider(paths, .medium(.wired))))
        let other = try unknown.manager.dataTask(with: try SessionRequest("\(paths.base)/never")) { _, _, _ in
        }
        other.resume()
        await unknown.counts.wait { $0.last?.waitingForNetwork == 1 }
        #expect(other.waitingReason == .network("monitoring has not started"))
        try await paths.lab.far.ip("link set pb up")
        // The kernel has removed no route: the carrier was all that was missing.
        #expect(await task.outcome().error == nil)
        let requests = try await paths.requests(1)
        #expect(requests.map(\.peer) == [TwoPaths.secondAddress] && requests.map(\.path) == ["/quick"])
        other.cancel()
    }

    @Test(
        "UPL-143 a transfer follows its medium to the link that takes over, by the rules of a lost path",
        arguments: [TwoPaths.Cut.linkDown, .carrierLost, .addressRemoved, .routeDeleted, .linkRemoved])
    func handsOver(_ cut: TwoPaths.Cut) async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        let following = following(paths, .requiring(.medium(.wired)))
        let download = try await begin(following, paths)
        try await paths.cut(cut)
        let outcome = await download.outcome()
        #expect(outcome.error == nil)
        let requests = try await paths.requests(2)
        #expect(requests.map(\.peer) == [Self.firstAddress, TwoPaths.secondAddress])
        #expect(requests.last?.start == 65536)
        #expect(try await paths.difference(of: outcome.filePath ?? "") == "")
    }

    private static let connectsThroughTheFirst = """
        table inet connects {
            chain out {
                type filter hook output priority 0;
                oifname "\(TwoPaths.first)" tcp flags & (syn | ack) == syn counter
            }
        }
        """

    @Test("UPL-144 one on a named interface waits for that, though another uplink reaches its server")
    func staysThere() async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        let following = following(paths, .requiring(.interface(TwoPaths.second)))
        try await paths.lab.near.run("nft", Self.connectsThroughTheFirst)
        // The line behind its router is dead: a free queue would have moved after the third SYN.
        try await paths.killLine("pb")
        async let outcome = fetch(following, "\(paths.base)/quick")
        try await paths.wait(forPackets: 3, through: TwoPaths.second)
        try await paths.reviveLine("pb")
        #expect(try await outcome.error == nil)
        let download = try await begin(following, paths)
        // Then its cable is out.
        try await paths.lab.far.ip("link set pb down")
        await following.counts.wait { $0.last?.parked == 1 }
        #expect(download.waitingReason == .network("b0: no carrier"))
        try await paths.lab.far.ip("link set pb up")
        let whole = await download.outcome()
        #expect(whole.error == nil)
        #expect(try await paths.difference(of: whole.filePath ?? "") == "")
        #expect(Set(try await paths.requests(3).compactMap(\.peer)) == [TwoPaths.secondAddress])
        // Nothing was tried over the other one. Packets alone say nothing: the kernel answers late segments
        // of a connection that is gone by its own routes.
        let counted = try await paths.lab.near.run("nft", "list", "table", "inet", "connects")
        #expect(counted.contains("counter packets 0 "), "\(counted)")
    }

    @Test("UPL-145 names are asked for over the interface that is asked for")
    func names() async throws {
        let paths = try await TwoPaths()
        guard let names = try await SoakNames.start(paths) else { return }
        defer { names.program.terminate() }
        try await paths.killLine()
        let following = following(paths, .requiring(.interface(TwoPaths.second)))
        #expect(try await fetch(following, "http://soak.test:8080/quick").error == nil)
        #expect(try await paths.requests(1).map(\.peer) == [TwoPaths.secondAddress])
        #expect(try await paths.lab.near.ip("neigh show nud all dev a0 10.1.0.1") == "")
    }

    @Test("UPL-146 a queue that turns to a required network holds what waits until that has a path")
    func turns() async throws {
        let paths = try await TwoPaths()
        let following = following(paths, .none)
        #expect(try await fetch(following, "\(paths.base)/quick").error == nil)
        following.manager.queue.follows = .requiring(.interface("late0"))
        let task = try following.manager.dataTask(with: try SessionRequest("\(paths.base)/quick")) {
            _, _, _ in
        }
        task.resume()
        await following.counts.wait { $0.last?.waitingForNetwork == 1 }
        #expect(task.waitingReason == .network("interface late0 does not exist"))
        following.manager.queue.follows = .requiring(.interface(TwoPaths.second))
        #expect(await task.outcome().error == nil)
        #expect(try await paths.requests(2).map(\.peer) == [Self.firstAddress, TwoPaths.secondAddress])
        // It is kept where settings are written down.
        for network in [NetworkRequirement.medium(.cellular), .interface("wifi")] {
            following.manager.queue.follows = .requiring(network)
            let data = try JSONEncoder().encode(following.manager.queue.settings)
            guard
                case .requiring(network) = try JSONDecoder().decode(RequestQueue.Settings.self, from: data)
                    .follows
            else {
                Issue.record("\(network) was not read")
                return
            }
        }
    }
}
