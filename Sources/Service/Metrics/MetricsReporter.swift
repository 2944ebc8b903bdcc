// SPDX-License-Identifier: Apache-2.0

package import EventLoop
import Reachability
package import ReachabilityCore
package import ServiceCore

/// Publishes the service's numbers for Prometheus, in a file or by a socket.
package final class MetricsReporter: ServiceComponent {
    package let name = "metrics"
    private var settings: ServiceConfiguration.Metrics
    private let version: String
    private let files: Reactor
    private let counters: ServiceCounters
    private var context: ServiceContext?
    private var writer: NewestWriter?
    private var listener: MetricsListener?
    private var timer: TimerID?
    /// Writes later changes when the interval has passed.
    private var late: TimerID?
    private var nextWrite = Int64.min
    private var metrics = ServiceMetrics()

    /// The numbers of the outbox and the transfers; nil without an outbox.
    package var outbox: (() -> ServiceMetrics.Outbox?)?
    package var delivers: (() -> Bool?)?
    /// The links as they are now.
    package var links: (() -> [LinkReport]?)?
    package var transfers: (() -> ServiceMetrics.Transfers?)?

    /// The interval between writes for changes of the status, since flash wears out.
    package var pace: Duration = .seconds(1)
    /// Called with each published text.
    package var answered: (() -> Void)?
    /// Called with each text written to the file.
    package var wrote: (([UInt8]) -> Void)?
    /// The listener's port; nil without one.
    package var port: UInt16? { listener?.port }

    package init(
        _ settings: ServiceConfiguration.Metrics, version: String, files: Reactor, counters: ServiceCounters
    ) {
        self.settings = settings
        self.version = version
        self.files = files
        self.counters = counters
    }

    package func start(_ context: ServiceContext) throws(ServiceError) {
        self.context = context
        metrics.version = version
        metrics.startTime = context.wallClock()
        if let endpoint = settings.listen {
            listener = try MetricsListener(
                endpoint, clients: Int(settings.clients), reactor: context.reactor,
                metrics: { [weak self] in
                    defer { self?.answered?() }
                    return self?.text ?? []
                })
        }
        openFile()
    }

    private func openFile() {
        guard let context, !settings.file.isEmpty else { return }
        let log = context.log
        writer = NewestWriter(settings.file, loop: context.reactor, files: files) {
            log(.warning, "metrics: \($0)")
        }
        schedule()
    }

    package func reload(_ configuration: ServiceConfiguration) {
        let former = settings
        settings.file = configuration.metrics.file
        settings.interval = configuration.metrics.interval
        guard settings != former else { return }
        if let timer { context?.reactor.cancel(timer) }
        timer = nil
        if settings.file != former.file {
            // Outdated numbers are worse than none.
            writer?.remove {}
            writer = nil
            nextWrite = .min
            openFile()
            if context?.current != nil { write() }
        } else if writer != nil {
            schedule()
        }
    }

    package func internetChanged(_ change: CommittedChange) { changed() }

    package func statusChanged(_ change: CommittedChange) {
        metrics.status = change.status
        metrics.isOnline = change.path.isOnline
        metrics.interface = change.path.interface ?? ""
        metrics.medium = change.path.medium?.rawValue ?? ""
        metrics.generation = change.generation
        switch change.event {
        case .initial: break
        case .status: metrics.changes[change.status, default: 0] += 1
        case .path: metrics.pathChanges += 1
        }
        if change.event != .path { changed() }
    }

    /// Writes the first of several changes at once, and the following ones together after the interval.
    private func changed() {
        guard writer != nil, late == nil, let context else { return }
        guard Reactor.now < nextWrite else { return write() }
        late = context.reactor.schedule(at: nextWrite) { [weak self] in
            self?.late = nil
            self?.write()
        }
    }

    private func write() {
        guard let writer else { return }
        nextWrite = Reactor.now + pace.inNanoseconds
        let text = text
        wrote?(text)
        writer.write(text)
    }

    /// The current text.
    private var text: [UInt8] { context == nil ? [] : current.text }

    /// The current numbers; nil before the start and after the end.
    package var families: [MetricFamily]? { context == nil ? nil : current.families }

    private var current: ServiceMetrics {
        guard let context else { return metrics }
        metrics.monitor = context.manager.counters
        metrics.turns = UInt64(context.reactor.counters.turns)
        metrics.hookRuns = counters.hookRuns
        metrics.hookFailures = counters.hookFailures
        metrics.hooksSkipped = counters.hooksSkipped
        metrics.historySkipped = counters.historySkipped
        metrics.linesLeftOut = counters.linesLeftOut
        metrics.outbox = outbox?()
        metrics.delivers = delivers?()
        metrics.transfers = transfers?()
        metrics.internet = context.current?.internetBehindPath ?? context.internet
        metrics.uplinks = context.uplinks
        metrics.links = (links?() ?? []).filter(\.isOnline)
        return metrics
    }

    private func schedule() {
        guard let context else { return }
        timer = context.reactor.schedule(at: Reactor.now + settings.interval.inNanoseconds) { [weak self] in
            guard let self else { return }
            write()
            schedule()
        }
    }

    package var stateLine: String? {
        listener.map { "listens at port \($0.port), \($0.served) answers, \($0.refused) turned away" }
    }

    package func stop(_ done: @escaping () -> Void) {
        for timer in [timer, late] { if let timer { context?.reactor.cancel(timer) } }
        listener?.close()
        listener = nil
        context = nil
        // Outdated numbers would look like a stalled service.
        if let writer { writer.remove(done) } else { done() }
    }
}
