// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

/// A line behind a router that loses large packets without a word, and carries small ones.
@Suite(
    "Lines that lose large packets", .timeLimit(.minutes(10)),
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct LargePacketScenarios {
    /// Drops large packets that come from the client over its first uplink, or over both.
    private func loseLargePackets(_ paths: TwoPaths, over routers: String = "pa") async throws {
        // Otherwise netfilter counts many packets as one big one (segmentation offload).
        for link in ["a0", "b0"] { try await paths.lab.near.ip("link set \(link) gso_max_segs 1") }
        try await paths.lose("meta length > 1000", over: routers)
    }

    /// Sends 200 kB to the server, with a limit for its silence.
    private func upload(
        _ paths: TwoPaths, silence: Duration, options: TaskOptions = TaskOptions()
    ) async throws -> TaskOutcome {
        let client = LineClient(paths)
        var request = try client.request("/sink")
        request.method = .put
        request.options.timeoutInterval = silence
        let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let task = try client.manager.uploadTask(with: request, from: content, options: options) { _, _, _ in
        }
        task.resume()
        return await task.outcome()
    }

    @Test("UPL-288 An upload over a line that loses large packets goes on over the other uplink")
    func moved() async throws {
        let paths = try await TwoPaths()
        try await loseLargePackets(paths)
        #expect(try await upload(paths, silence: .seconds(120)).error == nil)
        let requests = try await paths.requests(1)
        #expect(requests.last?.peer == TwoPaths.secondAddress)
    }

    @Test("UPL-289 Where both lines do it, nothing goes to and fro, and the time-out says what is wrong")
    func reported() async throws {
        let paths = try await TwoPaths()
        try await loseLargePackets(paths, over: "pa, pb")
        var options = TaskOptions()
        options.isIdempotent = true
        let error = try await upload(paths, silence: .seconds(25), options: options).error
        #expect(error?.code == .timedOut)
        #expect(
            error?.message.contains("large packets are lost behind it, small ones are answered") == true,
            "\(error?.message ?? "")")
    }
}
