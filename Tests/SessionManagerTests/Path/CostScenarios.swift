// SPDX-License-Identifier: Apache-2.0

import EventLoop
import HTTPTypes
import Reachability
import ReachabilityCore
import SessionCore
import SessionManager
import TestSupport
import Testing

/// What a dead line's traffic may cost on the other uplink, by the configuration that the queue follows.
@Suite(
    "The cost of the other uplink",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct CostScenarios {
    /// How the second uplink is configured, and whether the request may go over it.
    enum Case: CaseIterable {
        case constrained, metered, meteredForQueue, constrainedAllowed, costsNothing

        func configure(_ configuration: inout ReachabilityConfiguration) {
            switch self {
            case .constrained, .constrainedAllowed: configuration.constrainedInterfaces = [TwoPaths.second]
            case .metered, .meteredForQueue: configuration.metered = [TwoPaths.second: .guessYes]
            case .costsNothing: configuration.metered = [TwoPaths.second: .no]
            }
        }

        func restrict(_ options: inout RequestOptions) {
            switch self {
            case .constrained: options.allowsConstrainedNetwork = false
            case .metered, .costsNothing: options.allowsExpensiveNetwork = false
            case .constrainedAllowed, .meteredForQueue: break
            }
        }

        var mayMove: Bool { self == .constrainedAllowed || self == .costsNothing }
    }

    @Test(
        "UPL-237 A transfer leaves its dead line only for an uplink whose cost it allows",
        arguments: Case.allCases)
    func detour(_ kind: Case) async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        let monitor = LineClient.monitor(paths) { kind.configure(&$0) }
        let client = LineClient(paths, follows: .provider(monitor))
        client.manager.queue.allowsExpensiveNetwork = kind != .meteredForQueue
        let download = try await client.stalledDownload { kind.restrict(&$0) }
        try await paths.killLine()
        if kind.mayMove {
            paths.release()
        } else {
            // Silent for so long that a deaf connection would have been tried elsewhere.
            try await paths.wait(forPackets: 5, through: TwoPaths.first)
            // Nothing was tried over the other uplink: no neighbour was looked for.
            #expect(try await paths.lab.near.ip("neigh show nud all dev b0 10.2.0.1") == "")
            paths.release()
            try await paths.reviveLine()
        }
        #expect(try await client.end(of: download) == nil)
        let peers = try await paths.requests(kind.mayMove ? 2 : 1).map(\.peer)
        #expect(peers.last == (kind.mayMove ? TwoPaths.secondAddress : "10.1.0.2"))
    }

    @Test(
        "UPL-460 A free uplink takes over before a preferred one that costs, which does where the free one is dead",
        arguments: [false, true])
    func freeFirst(isFreeDead: Bool) async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        try await paths.addThirdPath()
        if isFreeDead { try await paths.killLine("pc") }
        let monitor = LineClient.monitor(paths) { $0.metered = [TwoPaths.second: .guessYes] }
        let client = LineClient(paths, follows: .provider(monitor))
        let download = try await client.stalledDownload()
        try await paths.killLine()
        paths.release()
        #expect(try await client.end(of: download) == nil)
        let peers = try await paths.requests(2).map(\.peer)
        #expect(peers == ["10.1.0.2", isFreeDead ? TwoPaths.secondAddress : "10.3.0.2"])
    }
}
