// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Reachability
package import ServiceCore
import SessionCore
import SessionManager

/// Probes the internet behind the path and behind each other uplink, if the configuration names a server.
package final class InternetService: ServiceComponent {
    package let name = "internet"
    private var settings: ServiceConfiguration.Probe
    private var context: ServiceContext?
    private var probe: InternetProbe?
    private var observation: ReachabilityObservation?
    /// Distinguishes the current probe's results from those of an earlier one.
    private var number = 0

    package init(_ settings: ServiceConfiguration.Probe) { self.settings = settings }

    package func start(_ context: ServiceContext) throws(ServiceError) { self.context = context }

    /// Starts with the first report: before there is no path to probe.
    package func statusChanged(_ change: CommittedChange) { if change.event == .initial { begin() } }

    package func reload(_ configuration: ServiceConfiguration) {
        let former = settings
        settings = configuration.probe
        guard settings != former else { return }
        // Other pauses are no other question: what was found stays.
        if settings.asks(as: former), let probe, let new = InternetProbeConfiguration(settings) {
            return probe.setPauses(new)
        }
        end()
        begin()
    }

    private func begin() {
        guard let context, let configuration = InternetProbeConfiguration(settings) else { return }
        let probe: InternetProbe
        do throws(SessionError) {
            probe = try InternetProbe(configuration, provider: context.manager)
        } catch {
            return context.log(.error, "internet: \(settings.url) cannot be asked: \(error.description)")
        }
        number += 1
        let (here, number) = (LoopBound(self, to: context.reactor), number)
        self.probe = probe
        context.probe = probe
        observation = probe.observeFindings { found in here.perform { $0.found(found, number) } }
        probe.start()
    }

    private func found(_ findings: InternetFindings, _ number: Int) {
        if number == self.number, probe != nil { context?.notify(findings: findings) }
    }

    private func end() {
        observation?.cancel()
        observation = nil
        probe?.stop()
        probe = nil
        context?.probe = nil
        context?.notify(findings: nil)
    }

    package var stateLine: String? {
        guard let probe else { return nil }
        let words = "\(probe.configuration.url.absoluteString) says \(probe.state)"
        let uplinks = InternetSentence.text(probe.uplinks, boot: context?.bootClock(), transfersFollow: true)
        return uplinks.map { "\(words): \($0)" } ?? words
    }

    package func stop(_ done: @escaping () -> Void) {
        end()
        context = nil
        done()
    }
}

extension InternetProbeConfiguration {
    /// The configured probe; nil if there is none.
    init?(_ settings: ServiceConfiguration.Probe) {
        guard !settings.url.isEmpty, let url = try? URL(spoken: settings.url) else { return nil }
        let status = Int(settings.status)
        self.init(
            url,
            expectation: InternetExpectation(
                statusCodes: status == 0 ? .successful : [status...status],
                body: settings.body.isEmpty ? nil : settings.body))
        fullPause = settings.interval
        longestPause = settings.retry
        expensivePause = settings.expensiveInterval > .zero ? settings.expensiveInterval : nil
    }
}
