// SPDX-License-Identifier: Apache-2.0

import EventLoop
import ReachabilityCore
import Synchronization

/// The state of a manager and its observers; safe on every thread.
final class ReachabilityState: Sendable {
    struct Observer {
        let queue: ObserverQueue
        /// Called when monitoring has stopped.
        let onStop: @Sendable () -> Void
        /// Called when no further update can come.
        let onClose: @Sendable () -> Void
    }

    private struct Values {
        var isMonitoring = false
        var session: UInt64 = 0
        var status = ReachabilityStatus.unknown
        var hasReported = false
        var path = ReachabilityPath.notMonitoring
        var links: [LinkReport] = []
        var counters = MonitorCounters()
        var failure: ReachabilityError?
        var limitations: MonitorLimitations = []
        /// The limitations reported to the block since the start.
        var reportedLimitations: MonitorLimitations = []
        var limitationBlock: (@Sendable (MonitorLimitations) -> Void)?
        var observers = SubscriberList<Observer>()
        var linkObservers = SubscriberList<@Sendable ([LinkReport]) -> Void>()
        /// The links that the link observers know; nil before the first report.
        var observedLinks: [LinkReport]?
    }

    private let state = Mutex(Values())

    var status: ReachabilityStatus { state.withLock { $0.status } }
    var path: ReachabilityPath { state.withLock { $0.path } }
    var current: (ReachabilityStatus, ReachabilityPath) { state.withLock { ($0.status, $0.path) } }
    var counters: MonitorCounters { state.withLock { $0.counters } }
    var failure: ReachabilityError? { state.withLock { $0.failure } }
    var limitations: MonitorLimitations { state.withLock { $0.limitations } }
    var isMonitoring: Bool { state.withLock { $0.isMonitoring } }

    /// Begins a session; nil if one is running.
    func begin() -> UInt64? {
        state.withLock { state in
            guard !state.isMonitoring else { return nil }
            state.isMonitoring = true
            state.session += 1
            state.counters = MonitorCounters()
            state.failure = nil
            state.limitations = []
            state.reportedLimitations = []
            return state.session
        }
    }

    /// Whether the session has not ended.
    func isCurrent(_ session: UInt64) -> Bool { state.withLock { $0.isMonitoring && $0.session == session } }

    /// Ends a session that could not start; its failure stays readable, and the next start tries again.
    func abandon(_ session: UInt64) {
        state.withLock { state in
            guard state.isMonitoring, state.session == session else { return }
            state.isMonitoring = false
            state.hasReported = false
            state.limitations = []
        }
    }

    /// The end of a session, which the observers do not know yet.
    struct Ending {
        fileprivate let observers: [Observer]

        /// Removes pending updates; no call is running when it returns.
        func complete() {
            for observer in observers { observer.queue.removeAll(permanently: false) }
            for observer in observers { observer.onStop() }
        }
    }

    /// Ends the session: its further results are ignored.
    func end() -> Ending {
        let observers = state.withLock { state -> [Observer] in
            guard state.isMonitoring else { return [] }
            state.isMonitoring = false
            state.hasReported = false
            state.status = .unknown
            state.path = .notMonitoring
            state.links = []
            state.observedLinks = nil
            state.limitations = []
            return state.observers.all
        }
        return Ending(observers: observers)
    }

    /// Stores an update and passes it to the observers; only the session's own loop calls it.
    func publish(_ update: ReachabilityUpdate, session: UInt64) {
        let queues = state.withLock { state -> [ObserverQueue] in
            guard state.isMonitoring, state.session == session else { return [] }
            state.status = update.status
            state.path = update.path
            state.links = update.links
            state.hasReported = true
            let queues = state.observers.all.map(\.queue)
            for queue in queues { queue.append(update) }
            return queues
        }
        for queue in queues { queue.deliver() }
    }

    /// Stores a path without an update.
    func refresh(_ path: ReachabilityPath, session: UInt64) {
        state.withLock { state in
            guard state.isMonitoring, state.session == session else { return }
            state.path = path
        }
    }

    func record(
        _ counters: MonitorCounters, _ failure: ReachabilityError?, _ limitations: MonitorLimitations,
        session: UInt64
    ) {
        let call = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.session == session else { return nil }
            state.counters = counters
            state.failure = failure
            guard state.isMonitoring else { return nil }
            state.limitations = limitations
            return Self.limitationCall(&state)
        }
        call?()
    }

    /// Replaces the block for limitations, and calls it at once with the present ones.
    func setLimitationBlock(_ block: (@Sendable (MonitorLimitations) -> Void)?) {
        let call = state.withLock { state -> (@Sendable () -> Void)? in
            state.limitationBlock = block
            state.reportedLimitations = []
            return Self.limitationCall(&state)
        }
        call?()
    }

    /// The pending call of the block, for after the lock; nil if there is none.
    private static func limitationCall(_ state: inout Values) -> (@Sendable () -> Void)? {
        let fresh = state.limitations.subtracting(state.reportedLimitations)
        guard !fresh.isEmpty, let block = state.limitationBlock else { return nil }
        state.reportedLimitations.formUnion(fresh)
        return { block(fresh) }
    }

    /// Adds an observer, which gets the present state if known, else the first report.
    func add(
        _ queue: ObserverQueue, onStop: @escaping @Sendable () -> Void = {},
        onClose: @escaping @Sendable () -> Void = {}
    ) -> Int {
        let token = state.withLock { state in
            let token = state.observers.add(Observer(queue: queue, onStop: onStop, onClose: onClose))
            if state.hasReported {
                queue.append(
                    ReachabilityUpdate(
                        event: .initial, status: state.status, previous: nil, path: state.path,
                        links: state.links))
            }
            return token
        }
        queue.deliver()
        return token
    }

    /// Adds an observer of all links, which gets their reports when they are known, and whenever they change.
    func addLinkObserver(_ observer: @escaping @Sendable ([LinkReport]) -> Void) -> Int {
        let (token, known) = state.withLock { ($0.linkObservers.add(observer), $0.observedLinks) }
        if let known { observer(known) }
        return token
    }

    func removeLinkObserver(_ token: Int) {
        state.withLock { state in
            state.linkObservers.remove(token)
            if state.linkObservers.all.isEmpty { state.observedLinks = nil }
        }
    }

    /// Takes the reports on all links of session `session`; nil without an observer of them.
    func linkReceiver(session: UInt64) -> (@Sendable ([LinkReport]) -> Void)? {
        guard state.withLock({ !$0.linkObservers.all.isEmpty }) else { return nil }
        return { [self] links in
            let observers = state.withLock { state -> [@Sendable ([LinkReport]) -> Void] in
                guard state.isMonitoring, state.session == session, state.observedLinks != links else {
                    return []
                }
                state.observedLinks = links
                return state.linkObservers.all
            }
            for observer in observers { observer(links) }
        }
    }

    /// Removes an observer; no call to it begins afterwards.
    func remove(_ token: Int) {
        let observer = state.withLock { $0.observers.remove(token) }
        observer?.queue.removeAll(permanently: true)
    }

    /// Ends the sequences, because the manager is released.
    func close() {
        for observer in state.withLock({ $0.observers.removeAll() }) { observer.onClose() }
    }
}
