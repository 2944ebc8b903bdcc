// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import Synchronization

/// What a manager knows and whom it tells: the side of it that every thread may use.
final class ReachabilityState: Sendable {
    struct Observer {
        let token: UInt64
        let queue: ObserverQueue
        /// Called when monitoring has stopped.
        let onStop: @Sendable () -> Void
        /// Called when no update can come any more.
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
        /// Those the block has been told since the start.
        var reportedLimitations: MonitorLimitations = []
        var limitationBlock: (@Sendable (MonitorLimitations) -> Void)?
        var observers: [Observer] = []
        var nextToken: UInt64 = 1
    }

    private let state = Mutex(Values())

    var status: ReachabilityStatus { state.withLock { $0.status } }
    var path: ReachabilityPath { state.withLock { $0.path } }
    var current: (ReachabilityStatus, ReachabilityPath) { state.withLock { ($0.status, $0.path) } }
    var counters: MonitorCounters { state.withLock { $0.counters } }
    var failure: ReachabilityError? { state.withLock { $0.failure } }
    var limitations: MonitorLimitations { state.withLock { $0.limitations } }
    var isMonitoring: Bool { state.withLock { $0.isMonitoring } }

    /// Begins a session; nil where one is running.
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

    /// Whether the session has not been ended.
    func isCurrent(_ session: UInt64) -> Bool {
        state.withLock { $0.isMonitoring && $0.session == session }
    }

    /// Ends a session that could not be started; what was told of that stays, and the next start tries again.
    func abandon(_ session: UInt64) {
        state.withLock { state in
            guard state.isMonitoring, state.session == session else { return }
            state.isMonitoring = false
            state.hasReported = false
            state.limitations = []
        }
    }

    /// The end of a session, of which the observers have still to be told.
    struct Ending {
        fileprivate let observers: [Observer]

        /// Throws away what has not been delivered; no call is under way when this returns.
        func complete() {
            for observer in observers { observer.queue.empty(forGood: false) }
            for observer in observers { observer.onStop() }
        }
    }

    /// Ends the session: nothing more is taken over from it.
    func end() -> Ending {
        let observers = state.withLock { state -> [Observer] in
            guard state.isMonitoring else { return [] }
            state.isMonitoring = false
            state.hasReported = false
            state.status = .unknown
            state.path = .notMonitoring
            state.links = []
            state.limitations = []
            return state.observers
        }
        return Ending(observers: observers)
    }

    /// Takes over an update and passes it on.
    ///
    /// Only the loop of session `session` calls this.
    func publish(_ update: ReachabilityUpdate, session: UInt64) {
        let queues = state.withLock { state -> [ObserverQueue] in
            guard state.isMonitoring, state.session == session else { return [] }
            state.status = update.status
            state.path = update.path
            state.links = update.links
            state.hasReported = true
            for observer in state.observers { observer.queue.put(update) }
            return state.observers.map(\.queue)
        }
        for queue in queues { queue.deliver() }
    }

    /// Takes over a path that is not worth telling.
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

    /// Replaces the block that is told of limitations; it hears at once of those that are there.
    func setLimitationBlock(_ block: (@Sendable (MonitorLimitations) -> Void)?) {
        let call = state.withLock { state -> (@Sendable () -> Void)? in
            state.limitationBlock = block
            state.reportedLimitations = []
            return Self.limitationCall(&state)
        }
        call?()
    }

    /// The call that is due, to be made outside the lock; nil where the block knows everything.
    private static func limitationCall(_ state: inout Values) -> (@Sendable () -> Void)? {
        let fresh = state.limitations.subtracting(state.reportedLimitations)
        guard !fresh.isEmpty, let block = state.limitationBlock else { return nil }
        state.reportedLimitations.formUnion(fresh)
        return { block(fresh) }
    }

    /// Adds an observer, which gets how things are if that is known, and otherwise with the first report.
    func add(
        _ queue: ObserverQueue, onStop: @escaping @Sendable () -> Void = {},
        onClose: @escaping @Sendable () -> Void = {}
    ) -> UInt64 {
        let token = state.withLock { state in
            let token = state.nextToken
            state.nextToken += 1
            state.observers.append(Observer(token: token, queue: queue, onStop: onStop, onClose: onClose))
            if state.hasReported {
                queue.put(
                    ReachabilityUpdate(
                        event: .initial, status: state.status, previous: nil, path: state.path,
                        links: state.links))
            }
            return token
        }
        queue.deliver()
        return token
    }

    /// Removes an observer; no call to it begins afterwards.
    func remove(_ token: UInt64) {
        let queue = state.withLock { state -> ObserverQueue? in
            guard let position = state.observers.firstIndex(where: { $0.token == token }) else { return nil }
            return state.observers.remove(at: position).queue
        }
        queue?.empty(forGood: true)
    }

    /// The manager is gone: sequences end.
    func close() {
        let observers = state.withLock { state -> [Observer] in
            defer { state.observers = [] }
            return state.observers
        }
        for observer in observers { observer.onClose() }
    }
}
