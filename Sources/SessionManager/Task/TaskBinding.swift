// SPDX-License-Identifier: Apache-2.0

public import Reachability
public import SessionCore
import Synchronization

/// Keeps something that is shown in step with a task: whether it runs, what it waits for, and how far it is.
///
///     let binding = TaskBinding { moment in
///         display.show(moment.waitingReason?.description ?? "\(moment.download.completedBytes) bytes")
///     }
///     binding.bind(to: task)
///
/// Nothing is called after the end of the binding, which the task does not notice. From any thread.
public final class TaskBinding: Sendable {
    /// What is to be shown.
    public struct Moment: Sendable, Equatable {
        /// Whether the task runs: neither suspended nor over.
        public var isActive: Bool
        /// What a task that was resumed waits for, the network for example; nil while it runs.
        public var waitingReason: HoldReason?
        /// How far its body is.
        public var upload: TransferProgress.Snapshot
        /// How far its content is.
        public var download: TransferProgress.Snapshot
    }

    private struct State {
        /// Of the present task: reports about earlier ones do not count.
        var generation = 0
        var stop: (@Sendable () -> Void)?
        var calls = PendingCalls<Moment>()
    }

    private let state = Mutex(State())
    private let queue: DeliveryQueue
    private let show: @Sendable (Moment) -> Void

    /// A binding to no task yet.
    ///
    /// - Parameters:
    ///   - queue: where `show` is called.
    ///   - show: called when the task starts, stops, begins to wait, continues or ends, and as its bytes go;
    ///     not once for each of them.
    public init(queue: DeliveryQueue = .own, show: @escaping @Sendable (Moment) -> Void) {
        self.queue = queue
        self.show = show
    }

    deinit {
        // Perhaps inside a call of the hub, which holds its lock then.
        if let stop = state.withLock({ $0.stop }) { Task { stop() } }
    }

    /// Shows this task from now on instead of an earlier one; nil for none.
    ///
    /// What it does now is shown at once. A task that has completed already is not shown.
    public func bind(to task: SessionTask?) {
        let (generation, stop) = state.withLock { state in
            state.generation += 1
            state.calls.values = []
            return (state.generation, state.stop.take())
        }
        stop?()
        guard let task, task.state != .completed else { return }
        // By its number: a listener that kept the task would keep it for ever where it is not resumed.
        let stopObserving = task.observeEvents { [weak self, weak task, identifier = task.identifier] event in
            guard let self, let task else { return }
            switch event {
            case .resumed(let other) where other.identifier == identifier: record(task, true, generation)
            case .suspended(let other) where other.identifier == identifier: record(task, false, generation)
            case .held(let other, _) where other.identifier == identifier,
                .released(let other) where other.identifier == identifier:
                record(task, task.state == .running, generation)
            case .completed(let other, _) where other.identifier == identifier:
                record(task, false, generation)
                end(generation)
            default: break
            }
        }
        let isCurrent = state.withLock { state in
            guard state.generation == generation else { return false }
            state.stop = stopObserving
            return true
        }
        guard isCurrent else { return stopObserving() }
        task.observeBytes { [weak self, weak task] in
            if let task { self?.record(task, nil, generation) }
        }
        record(task, task.state == .running, generation)
    }

    /// `isActive` nil where only bytes have gone.
    private func record(_ task: SessionTask, _ isActive: Bool?, _ generation: Int) {
        let progress = task.progress
        let moment = Moment(
            isActive: isActive ?? (task.state == .running), waitingReason: task.waitingReason,
            upload: progress.upload, download: progress.download)
        let delivers = state.withLock { state in
            guard state.generation == generation else { return false }
            // Bytes alone need no more than the newest count.
            if isActive == nil, let last = state.calls.values.last, last.isActive == moment.isActive,
                last.waitingReason == moment.waitingReason
            {
                state.calls.values.removeLast()
            }
            state.calls.values.append(moment)
            return state.calls.begin()
        }
        // A queue may run its work at once, which must not happen under the hub's lock.
        if delivers { Task { [queue, weak self] in queue.submit { [weak self] in self?.deliver() } } }
    }

    /// The listener goes, but not from inside the hub's own call.
    private func end(_ generation: Int) {
        Task { [weak self] in
            let stop: (@Sendable () -> Void)? =
                self?.state.withLock { $0.generation == generation ? $0.stop.take() : nil } ?? nil
            stop?()
        }
    }

    private func deliver() { while let next = state.withLock({ $0.calls.next() }) { show(next) } }
}
