// SPDX-License-Identifier: Apache-2.0

import EventLoop

// How the extras follow a task.
extension SessionTask {
    /// Calls `body` with each event of the task's manager, on the thread where it happens.
    ///
    /// - Returns: ends that; not to be called by `body`.
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
