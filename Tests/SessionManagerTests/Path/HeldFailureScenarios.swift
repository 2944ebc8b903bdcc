// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Transfers that fail while the network is gone, though their own connection had a way still.
@Suite(
    "Failures without a network",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct HeldFailureScenarios {
    @Test("a download whose connection breaks while the network is gone waits for it, and goes on by range")
    func reset() async throws {
        let network = try await SoakNetwork()
        // A way of the server's own outlives the default routes: the connection is good, the network is gone.
        try await network.lab.near.ip("route add 10.9.0.1/32 via 10.1.0.1")
        let monitor = network.monitor()
        let following = FollowingManager(.provider(monitor), in: network.lab.near)

        let request = try SessionRequest("http://10.9.0.1:8080/content?key=1&size=400000&tag=1")
        // The server stands still after the first piece.
        try await network.begin(.serverStalls)
        let bytes = EventLog<Int64>()
        var options = TaskOptions()
        options.downloadProgress = { bytes.append($0.completedBytes) }
        let task = try following.manager.downloadTask(with: request, options: options)
        task.resume()
        await bytes.wait { $0.last == 8192 }
        let lost = EventLog<Bool>()
        let observation = monitor.observeReachability { lost.append(!$0.path.isOnline) }
        defer { observation.cancel() }
        try await network.begin(.bothRoutesDeleted)
        await lost.wait { $0.last == true }
        #expect(task.state == .running && task.holdReasons.isEmpty)
        try await network.begin(.connectionsReset)
        #expect(await following.counts.wait { $0.last?.parked == 1 }.last?.parked == 1)
        guard case .network? = task.waitingReason else {
            return #expect(Bool(false), "\(task.holdReasons)")
        }
        try await network.end(.serverStalls)
        try await network.end(.bothRoutesDeleted)

        let outcome = await task.outcome()
        #expect(outcome.error == nil)
        let path = try #require(outcome.filePath)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let words = (0..<UInt64(50_000)).map { (1 << 32 + $0).bigEndian }
        #expect(try Data(contentsOf: URL(filePath: path)) == words.withUnsafeBytes { Data($0) })
        let lines = await network.lines.wait {
            $0.contains { $0.hasPrefix("request 1 ") && $0.hasSuffix(" 8192") }
        }
        let starts = lines.filter { $0.hasPrefix("request 1 ") }
            .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
        #expect(starts == [0, 8192])
    }
}
