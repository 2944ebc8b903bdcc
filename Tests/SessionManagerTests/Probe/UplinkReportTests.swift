// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import ReachabilityCore
import SessionCore
import SessionManager
import TestSupport
import Testing

/// A network that does not change.
private struct Reported: ReachabilityProvider {
    let update: ReachabilityUpdate

    func currentReachability() -> (status: ReachabilityStatus, path: ReachabilityPath) {
        (update.status, update.path)
    }

    func observeReachability(
        _ observer: @escaping @Sendable (ReachabilityUpdate) -> Void
    ) -> ReachabilityObservation {
        observer(update)
        return ReachabilityObservation {}
    }
}

/// Which uplinks a probe asks, by what a report says of the path and the links.
struct UplinkReportTests {
    private let origin: TestSupport.Origin
    init() async throws { origin = try await TestSupport.Origin.shared }

    private static func link(_ name: String, _ medium: Medium = .ethernet, isOnline: Bool = true)
        -> LinkReport
    {
        LinkReport(
            name: name, index: name == "lo" ? 1 : 2, medium: medium, isOnline: isOnline,
            reason: ReachabilityReason(.defaultRoute, interface: name, sentence: "a route"))
    }

    /// "main full, lo unknown (not asked: …)", once the preferred uplink is known.
    private func uplinks(
        _ path: ReachabilityPath, _ links: [LinkReport], pause: Duration? = nil
    ) async throws -> String {
        var session = SessionConfiguration()
        session.hostAddresses = origin.resolveEntries
        session.proxy = ""
        var configuration = InternetProbeConfiguration(
            try SessionRequest(origin.url("/status/204", at: .http)).url)
        configuration.timeout = .seconds(60)
        configuration.expensivePause = pause
        let status = path.isOnline ? path.instantStatus : .unreachable
        let update = ReachabilityUpdate(
            event: .initial, status: status, previous: nil, path: path, links: links)
        let probe = try InternetProbe(
            configuration, provider: Reported(update: update), session: session)
        probe.start()
        for await uplinks in probe.uplinkChanges
        where !uplinks.isEmpty && uplinks.allSatisfy({ $0.state != .unknown || !$0.reason.isEmpty }) {
            return uplinks.map { uplink in
                "\(uplink.interface) \(uplink.state)\(uplink.state == .unknown ? " (\(uplink.reason))" : "")"
            }.joined(separator: ", ")
        }
        return ""
    }

    private func path(
        _ medium: Medium? = nil, _ change: (inout ReachabilityPath) -> Void = { _ in }
    ) -> ReachabilityPath {
        var path = ReachabilityPath(status: .wired, interface: "main", medium: medium)
        change(&path)
        return path
    }

    @Test(
        "UPL-324 a modem beside the path in use is not asked, unless a pause says so",
        .timeLimit(.minutes(10)))
    func modem() async throws {
        let links = [Self.link("main"), Self.link("lo", .cellular)]
        #expect(try await uplinks(path(), links) == "main full, lo unknown (not asked: its traffic costs)")
        #expect(try await uplinks(path(), links, pause: .seconds(60)) == "main full, lo full")
    }

    @Test(
        "UPL-325 nothing is asked around a tunnel, and links without a path are no uplinks",
        .timeLimit(.minutes(10)))
    func tunnel() async throws {
        let links = [Self.link("main"), Self.link("lo"), Self.link("eth7", isOnline: false)]
        let tunnelled = path { $0.isTunnel = true }
        #expect(
            try await uplinks(tunnelled, links)
                == "main full, lo unknown (not asked: main is a tunnel, and nothing goes around it)")
        #expect(try await uplinks(path(), links) == "main full, lo full")
        // This machine itself needs no uplink.
        #expect(try await uplinks(path(.loopback), links) == "main full")
    }

    @Test("UPL-326 an uplink that stands in for a dead choice is asked over itself", .timeLimit(.minutes(10)))
    func alternative() async throws {
        var path = ReachabilityPath(status: .unreachable)
        path.alternative = "lo"
        #expect(try await uplinks(path, [Self.link("lo")]) == "lo full")
        // Bound to a link that does not exist, it reaches nothing.
        path.alternative = "absent0"
        #expect(try await uplinks(path, [Self.link("absent0")]) == "absent0 limited")
    }
}
