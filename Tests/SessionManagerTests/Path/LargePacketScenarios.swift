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
    private func manager(_ paths: TwoPaths) -> URLSessionManager {
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        return URLSessionManager(
            configuration: configuration, securityPolicy: .default, on: paths.lab.near.reactor)
    }

    /// Drops large packets that come from the client over its first uplink, or over both.
    private func loseLargePackets(_ paths: TwoPaths, over routers: String = "pa") async throws {
        // Otherwise netfilter counts many packets as one big one (segmentation offload).
        for link in ["a0", "b0"] { try await paths.lab.near.ip("link set \(link) gso_max_segs 1") }
        try await paths.lab.far.run(
            "nft",
            "add table inet large; add chain inet large i { type filter hook input priority 0; }; "
                + "add rule inet large i iifname { \(routers) } meta length > 1000 drop")
    }

    private func upload(_ paths: TwoPaths, silence: Duration) throws -> (SessionRequest, Data) {
        var request = try SessionRequest(paths.base + "/sink")
        request.method = .put
        request.options.timeoutInterval = silence
        return (request, Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }))
    }

    @Test("UPL-288 An upload over a line that loses large packets goes on over the other uplink")
    func moved() async throws {
        let paths = try await TwoPaths()
        try await loseLargePackets(paths)
        let manager = manager(paths)
        let (request, content) = try upload(paths, silence: .seconds(120))
        let task = try manager.uploadTask(with: request, from: content) { _, _, _ in }
        task.resume()
        #expect(await task.outcome().error == nil)
        let requests = try await paths.requests(1)
        #expect(requests.last?.peer == TwoPaths.secondAddress)
    }

    @Test("UPL-289 Where both lines do it, nothing goes to and fro, and the time-out says what is wrong")
    func told() async throws {
        let paths = try await TwoPaths()
        try await loseLargePackets(paths, over: "pa, pb")
        let manager = manager(paths)
        let (request, content) = try upload(paths, silence: .seconds(25))
        var options = TaskOptions()
        options.isIdempotent = true
        let task = try manager.uploadTask(with: request, from: content, options: options) { _, _, _ in }
        task.resume()
        let error = await task.outcome().error
        #expect(error?.code == .timedOut)
        #expect(
            error?.message.contains("large packets are lost behind it, small ones are answered") == true,
            "\(error?.message ?? "")")
    }
}
