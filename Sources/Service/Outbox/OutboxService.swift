// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Outbox
package import ReachabilityCore
package import ServiceCore
import SessionCore
import SessionManager

/// Delivers the service's outbox, and answers clients' calls about it.
///
/// The outbox works on a thread of its own; this class passes calls there and results back.
package final class OutboxService: ServiceComponent, OutboxAnswering {
    package let name = "outbox"
    /// The folder in the state directory.
    package static let folderName = "outbox"

    enum Phase {
        /// The calls that came meanwhile.
        case opening([(OutboxCall, Answer)])
        case open(RequestOutbox)
        case closed(reason: String)
    }

    /// Carries an answer back to the loop.
    typealias Answer = LoopCallback<VarlinkReply>

    private let configuration: OutboxConfiguration
    /// What the probe has found; nil without a probe.
    private var internet: InternetFindings?
    /// The outcomes of deliveries since the start.
    private(set) var transfers = ServiceMetrics.Transfers()
    /// The thread for calls to the outbox; the runtime's own pool, once used, wakes up every second.
    private(set) var executor: LoopTaskExecutor?
    var phase = Phase.closed(reason: "the service is not running")
    private(set) var context: ServiceContext?
    /// Clients that wait for the outcome of an entry.
    var waiters: [ConnectionQuota.ID: Waiter] = [:]
    /// Clients that follow entries.
    var followers: [ConnectionQuota.ID: Follower] = [:]
    /// The outbox's counts after the last events.
    private var counts: OutboxCounts?
    private var isCounting = false
    private var mayHaveChanged = false
    /// The pending end, requested while the outbox is being opened, or the service stores in it.
    private var end: (() -> Void)?
    /// The number of deposits that are being stored.
    private var deposits = 0
    /// Deposits that came while the outbox was being opened; nil is passed where it cannot be.
    private var pendingDeposits: [(RequestOutbox?) -> Void] = []
    /// The limits of a configuration that was read again.
    private var limits: OutboxLimits?
    /// The delivering manager; nil before the first attempt.
    private var manager: URLSessionManager?
    /// Whether this process delivers.
    private(set) var delivers = false
    /// Whether an attempt to open the outbox or start the delivery is in progress.
    private var isTrying = false
    /// Why the outbox cannot be opened or delivered; nil if it can.
    private var problem: String?
    /// The pauses between attempts: another process may deliver, or the disk be full, for a while.
    private var pauses: Backoff
    /// Contents that come in pieces; nil before the start.
    private(set) var uploads: ContentUploads?
    /// The origins whose requests wait, with the reasons.
    private var held: [String: String] = [:]
    /// Tells programs of fetched files; nil where there are no hooks.
    package weak var hooks: FetchHooks?
    /// The next attempt, and its time.
    private var retry: (timer: TimerID, at: Int64)?

    /// - Parameter isProbed: whether there is a probe; until its first result requests without TLS wait.
    package init(
        _ settings: ServiceConfiguration.Outbox = .init(), isProbed: Bool = false,
        pauses: Backoff = Backoff(first: .seconds(1), limit: .seconds(60))
    ) {
        configuration = OutboxConfiguration(settings)
        internet = isProbed ? InternetFindings() : nil
        self.pauses = pauses
    }

    package func start(_ context: ServiceContext) throws(ServiceError) {
        let executor: LoopTaskExecutor
        do throws(ReactorError) { executor = LoopTaskExecutor(try Reactor(name: "reach-calls")) } catch {
            throw ServiceError("\(error)")
        }
        self.executor = executor
        self.context = context
        uploads = ContentUploads(in: context.stateDirectory.path)
        phase = .opening([])
        tryToDeliver()
    }

    // MARK: Opening and delivering

    /// Opens the outbox if necessary and starts the delivery; retries after a pause.
    private func tryToDeliver() {
        guard let context, !isTrying else { return }
        isTrying = true
        retry = nil
        var configuration = configuration
        if let limits { configuration.limits = limits }
        let open: RequestOutbox? = if case .open(let outbox) = phase { outbox } else { nil }
        let here = LoopBound(self, to: context.reactor)
        let start = DeliveryStart(
            open: open, manager: manager, directory: context.stateDirectory,
            configuration: configuration, internet: internet, probe: context.probe, monitor: context.manager,
            service: here)
        Task(executorPreference: executor) {
            do {
                let outcome = try await start.run()
                here.perform { $0.tried(outcome) }
            } catch {
                here.perform { $0.failed("\(error)") }
            }
        }
    }

    func record(_ step: TaskStep) { transfers.record(step) }

    package func internetChanged(_ change: CommittedChange) {
        internet = change.internet.map { InternetFindings($0, uplinks: change.uplinks) }
        guard case .open(let outbox) = phase else { return }
        follow(outbox)
    }

    private func follow(_ outbox: RequestOutbox) {
        if let queue = manager?.queue, queue.internetProbe !== context?.probe {
            queue.internetProbe = context?.probe
        }
        Task(executorPreference: executor) { [internet] in try? await outbox.follow(findings: internet) }
    }

    package func reload(_ configuration: ServiceConfiguration) {
        limits = OutboxLimits(configuration.outbox)
        if let context, let folders = limits?.downloadFolders {
            FetchFolders.prepare(folders, in: context.stateDirectory.path)
            limits?.downloadFolders = FetchFolders.paths(folders, in: context.stateDirectory.path)
        }
        guard case .open(let outbox) = phase, let limits else { return }
        apply(limits, outbox)
    }

    private func apply(_ limits: OutboxLimits, _ outbox: RequestOutbox) {
        outbox.limits = limits
        Task(executorPreference: executor) { try? await outbox.storeLimits() }
    }

    private func tried(_ outcome: DeliveryStart.Outcome) {
        let (outbox, problem) = (outcome.outbox, outcome.problem)
        isTrying = false
        manager = outcome.manager
        record(problem, problem.map { "requests are taken, but not delivered: \($0)" })
        let waiting = removeWaiting()
        phase = .open(outbox)
        // The state may have changed since the attempt started.
        follow(outbox)
        if let limits, outbox.limits != limits { apply(limits, outbox) }
        count()
        for (call, answer) in waiting { begin(call, outbox, answer) }
        beginDeposits(outbox)
        if let end {
            if deposits == 0 { close(outbox, end) }
            return
        }
        if problem == nil { pauses.reset() } else { tryLater() }
    }

    private func failed(_ reason: String) {
        isTrying = false
        record(reason, reason)
        let waiting = removeWaiting()
        phase = .closed(reason: reason)
        for (_, answer) in waiting { answer.call(.unavailable(reason)) }
        beginDeposits(nil)
        guard let end else { return tryLater() }
        self.end = nil
        end()
    }

    /// Logs a new problem, and its end.
    private func record(_ problem: String?, _ sentence: String?) {
        defer { self.problem = problem }
        guard problem != self.problem else { return }
        if let sentence {
            context?.log(.error, "outbox: \(sentence)")
        } else {
            context?.log(.notice, "outbox: requests are delivered again")
        }
    }

    private func tryLater() {
        guard let context, retry == nil else { return }
        let instant = Reactor.now + pauses.nextDelay().inNanoseconds
        let timer = context.reactor.schedule(at: instant) { [weak self] in self?.tryToDeliver() }
        retry = (timer, instant)
    }

    /// The delivery has started, or ended by itself.
    private func delivering(_ isOn: Bool) {
        delivers = isOn
        guard !isOn, case .open = phase, end == nil else { return }
        // The manager was invalidated.
        manager = nil
        let reason = "the transfers were ended"
        record(reason, "requests are taken, but not delivered: \(reason)")
        tryLater()
    }

    private func removeWaiting() -> [(OutboxCall, Answer)] {
        if case .opening(let waiting) = phase { waiting } else { [] }
    }

    func happened(_ event: OutboxEvent) {
        switch event {
        case .died(let id, let failure):
            context?.log(.warning, "outbox: request \(id) is given up: \(failure)")
            givenUp(id, failure)
        case .postponed(let id, let reason, _):
            context?.log(.warning, "outbox: request \(id) waits: \(reason)")
        case .damaged(let file, let reason, let salvaged):
            context?.log(
                .error,
                "outbox: its file was damaged (\(reason)) and is now \(file); \(salvaged) requests were saved"
            )
        case .held(let origin, let reason, _):
            held[origin] = reason
            context?.log(.warning, "outbox: \(Self.name(origin)) waits: \(reason)")
        case .released(let origin):
            held[origin] = nil
            context?.log(.notice, "outbox: \(Self.name(origin)) waits no longer")
        case .gateHeld(let gate):
            let reason = gate.reason.isEmpty ? "" : ": \(gate.reason)"
            context?.log(.notice, "outbox: gate \(gate.name) is held\(reason)")
        case .gateReleased(let name): context?.log(.notice, "outbox: gate \(name) is released")
        case .storageFailed(let reason): context?.log(.error, "outbox: \(reason)")
        case .storageRecovered: context?.log(.notice, "outbox: its files can be used again")
        case .delivering(let isOn): delivering(isOn)
        default: break
        }
        count()
    }

    private static func name(_ origin: String) -> String {
        origin == "http" ? "what goes without TLS" : "what goes to \(origin)"
    }

    /// Counts the entries; changes meanwhile cause one further count.
    private func count() {
        guard case .open(let outbox) = phase, let context else { return }
        guard !isCounting else { return mayHaveChanged = true }
        isCounting = true
        let here = LoopBound(self, to: context.reactor)
        Task(executorPreference: executor) {
            let counts = try? await outbox.counts()
            here.perform { service in
                service.isCounting = false
                service.counts = counts
                guard service.mayHaveChanged else { return }
                service.mayHaveChanged = false
                service.count()
            }
        }
    }

    /// The numbers for Prometheus; nil before the first count.
    var metrics: ServiceMetrics.Outbox? { counts.map { ServiceMetrics.Outbox($0) } }

    package var stateLine: String? {
        switch phase {
        case .opening: return "being opened"
        case .open:
            let contents =
                ([counts.map { "\($0.waiting) wait, \($0.dead) given up" } ?? "open"]
                + held.values.sorted()).joined(separator: "; ")
            return problem.map { "\(contents); not delivered: \($0)\(next)" } ?? contents
        case .closed(let reason): return reason + next
        }
    }

    /// The time of the next attempt in words.
    private var next: String {
        guard let retry else { return "" }
        let seconds = max(retry.at - Reactor.now, 0) / 1_000_000_000
        return "; tried again in \(seconds) s"
    }

    package func stop(_ done: @escaping () -> Void) {
        if let retry { context?.reactor.cancel(retry.timer) }
        retry = nil
        if isTrying || deposits > 0 { return end = done }
        switch phase {
        case .open(let outbox): close(outbox, done)
        case .opening, .closed:
            context = nil
            done()
        }
    }

    /// Lets the service itself store in the outbox, which is closed only afterwards.
    ///
    /// - Parameter done: called on the loop with why it was not stored; nil if it was.
    func deposit(
        _ store: @escaping @Sendable (RequestOutbox) async throws -> Void,
        done: @escaping (String?) -> Void
    ) {
        guard let context else { return done("the service ends") }
        let callback = LoopBound(LoopCallback(done), to: context.reactor)
        let here = LoopBound(self, to: context.reactor)
        let begin = { [executor] (outbox: RequestOutbox?) in
            guard let outbox else { return callback.here { $0.call("the outbox is not open") } }
            here.here { $0.deposits += 1 }
            Task(executorPreference: executor) {
                var problem: String?
                do { try await store(outbox) } catch { problem = "\(error)" }
                here.perform { [problem] service in
                    service.deposits -= 1
                    callback.here { $0.call(problem) }
                    service.closeAfterDeposits()
                }
            }
        }
        switch phase {
        case .opening: pendingDeposits.append(begin)
        case .open(let outbox): begin(outbox)
        case .closed(let reason): done(reason)
        }
    }

    private func beginDeposits(_ outbox: RequestOutbox?) {
        let pending = pendingDeposits
        pendingDeposits = []
        for begin in pending { begin(outbox) }
    }

    private func closeAfterDeposits() {
        guard let end, deposits == 0, !isTrying, case .open(let outbox) = phase else { return }
        close(outbox, end)
    }

    private func close(_ outbox: RequestOutbox, _ done: @escaping () -> Void) {
        guard let context else { return done() }
        phase = .closed(reason: "the service ends")
        endFollowing()
        self.context = nil
        end = done
        let here = LoopBound(self, to: context.reactor)
        Task(executorPreference: executor) {
            await outbox.close()
            here.perform { service in
                service.manager = nil
                service.end?()
                service.end = nil
            }
        }
    }
}
