// SPDX-License-Identifier: Apache-2.0

import Reachability
import SessionManager
import Synchronization

/// Where the thread that draws sees how far the transfer is.
final class GetMeter: Sendable {
    /// How far it is.
    struct Moment: Sendable, Equatable {
        var progress: TransferProgress.Snapshot
        /// Bytes of an earlier try.
        var resumedAt: Int64
    }

    private let state = Mutex<(task: SessionTask?, resumedAt: Int64)>((nil, 0))
    private let start = Clock.monotonic

    /// The time since the program began with the work.
    var elapsed: Duration { Clock.monotonic - start }

    func follow(_ task: SessionTask, resumedAt offset: Int64 = 0) {
        state.withLock { $0 = (task, offset) }
    }

    /// What the network holds the transfer for; nil while it runs.
    var waitingReason: HoldReason? {
        guard let task = state.withLock({ $0.task }), case .network? = task.waitingReason else { return nil }
        return task.waitingReason
    }

    /// Nil while nothing has come.
    var moment: Moment? {
        let (task, offset) = state.withLock { $0 }
        guard let progress = task?.downloadProgress.snapshot, progress.completedBytes > 0 else { return nil }
        return Moment(progress: progress, resumedAt: offset)
    }
}
