// SPDX-License-Identifier: Apache-2.0

import EventLoop
public import SessionCore

/// What happens to a manager's tasks, in order.
public enum SessionEvent: Sendable {
    /// A task was resumed that was not running.
    case resumed(SessionTask)
    /// A running task was suspended.
    case suspended(SessionTask)
    /// A task waits, or waits for another reason than before; suspended ones are not reported again.
    case held(SessionTask, HoldReason)
    /// A task that waited starts, or continues.
    case released(SessionTask)
    /// How many tasks run and wait has changed; reported once for all changes of a turn.
    case queueChanged(QueueCounts)
    /// A task has completed; its completion block has been called.
    case completed(SessionTask, TaskCompletion)
    /// A finished download has been moved to its destination.
    case downloadMoved(SessionTask, path: String)
    /// A finished download could not be moved.
    case downloadMoveFailed(SessionTask, SessionError)
    /// A session has been invalidated and its last task has ended: nothing follows of any of its tasks.
    case invalidated(Session)
}

/// The details of a completion event.
public struct TaskCompletion: Sendable {
    /// How the task ended: content, error, file, metrics.
    public var outcome: TaskOutcome
    /// What the serializer made of the content.
    public var object: (any Sendable)?
    /// The serializer that was used.
    public var serializer: (any ResponseSerializer)?
    /// The error that the completion block got: the transfer's or the serializer's.
    public var error: SessionError?
}

extension EventBroadcaster<SessionEvent> {
    /// Publishes what a task was made to do, unless the task has ended: no event follows that of its end.
    func publish(_ event: @autoclosure () -> SessionEvent, unlessEnded task: SessionTask) {
        // A task has ended before the event of its end is published, which waits for the same lock.
        publish(event(), unless: { task.state == .completed })
    }
}

// How the extras follow a task.
extension SessionTask {
    /// Calls `body` with each event of the task's manager, on the thread where it happens.
    ///
    /// - Returns: ends that; an event that is being delivered may still come.
    package func observeEvents(_ body: @escaping @Sendable (SessionEvent) -> Void) -> @Sendable () -> Void {
        let hub = session.events
        let id = hub.subscribe(body)
        return { hub.unsubscribe(id) }
    }

    /// Calls `body` each time that bytes have been sent or received.
    package func observeBytes(_ body: @escaping @Sendable () -> Void) { whenBytesChange(body) }

    /// How far the task is.
    package var progress: (upload: TransferProgress.Snapshot, download: TransferProgress.Snapshot) {
        (counters.snapshot(.sent), counters.snapshot(.received))
    }

    /// Calls `body` with the outcome, at once where the task has ended.
    package func observeEnd(_ body: @escaping @Sendable (TaskOutcome) -> Void) { whenEnded(body) }
}
