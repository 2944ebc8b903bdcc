// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Reachability
import ServiceCore
import SessionCore
import SessionManager

/// Asks a server once over each uplink of a report, all at the same time.
struct OneShotProbe {
    var configuration: InternetProbeConfiguration
    var policy = SecurityPolicy.default

    init(_ configuration: InternetProbeConfiguration, policy: SecurityPolicy = .default) {
        self.configuration = configuration
        self.policy = policy
        // Asked for by a person: expensive uplinks too.
        self.configuration.expensivePause = .seconds(86_400)
        // One failure is an answer.
        self.configuration.firstPause = .seconds(86_400)
        self.configuration.longestPause = .seconds(86_400)
    }

    /// What was found of the internet.
    ///
    /// - Throws: the exit code, after the message.
    func findings(_ report: Report, _ waiter: MainThreadWaiter) throws(ExitCode) -> InternetFindings {
        let probe: InternetProbe
        do throws(SessionError) {
            probe = try InternetProbe(
                configuration, provider: FixedNetwork(report), securityPolicy: policy)
        } catch {
            complain(error.description)
            throw ExitCode.unavailable
        }
        let observation = probe.observeFindings { if $0.isComplete { waiter.finish() } }
        defer { observation.cancel() }
        probe.start()
        // A silent line, then a network's own API.
        let limit =
            Clock.monotonic + configuration.timeout + configuration.portalTimeout + .seconds(1)
        if waiter.wait(watchesOutput: false, until: { limit }) == .interrupted { throw ExitCode.interrupted }
        var findings = probe.findings
        if findings.state == .unknown { findings.state = .limited }
        return findings
    }
}

/// A network that stays as a report says.
private struct FixedNetwork: ReachabilityProvider {
    private let update: ReachabilityUpdate

    init(_ report: Report) {
        update = ReachabilityUpdate(
            event: .initial, status: report.status, previous: nil, path: report.path, links: report.links)
    }

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
