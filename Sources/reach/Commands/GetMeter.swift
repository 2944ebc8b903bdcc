// SPDX-License-Identifier: Apache-2.0

import Reachability
import SessionManager
import SessionManagerExtras
import Synchronization

/// Where the thread that draws sees how far the transfer is, and what it waits for.
final class GetMeter: Sendable {
    /// How far it is.
    struct Moment: Sendable, Equatable {
        var progress: TransferProgress.Snapshot
        /// Bytes of an earlier try.
        var resumedAt: Int64
    }

    private let state = Mutex<(newest: TaskBinding.Moment?, resumedAt: Int64)>((nil, 0))
    private let binding = Mutex<TaskBinding?>(nil)
    private let start = Clock.monotonic
    private let tries = Mutex<(count: Int, sentence: String?)>((0, nil))

    /// How often it was tried again.
    var retries: Int { tries.withLock { $0.count } }

    /// Another try is about to begin; this is why, and when.
    func recordRetry(_ sentence: String) { tries.withLock { $0 = ($0.count + 1, sentence) } }

    /// The report on the last try, once.
    func consumeRetry() -> String? {
        tries.withLock { tries in
            defer { tries.sentence = nil }
            return tries.sentence
        }
    }

    /// The time since the program began with the work.
    var elapsed: Duration { Clock.monotonic - start }

    /// Follows this task from now on.
    func follow(_ task: SessionTask, resumedAt offset: Int64 = 0) {
        state.withLock { $0 = (nil, offset) }
        // On no thread of the transfer's: a thread for this alone is not needed.
        let binding = TaskBinding(queue: .custom { $0() }) { [weak self] moment in
            self?.state.withLock { $0.newest = moment }
        }
        binding.bind(to: task)
        self.binding.withLock { $0 = binding }
    }

    /// What the network holds the transfer for; nil while it runs.
    var waitingReason: HoldReason? {
        guard let reason = state.withLock({ $0.newest?.waitingReason }), case .network = reason else {
            return nil
        }
        return reason
    }

    /// Nil while nothing has come.
    var moment: Moment? {
        let (newest, offset) = state.withLock { $0 }
        guard let progress = newest?.download, progress.completedBytes > 0 else { return nil }
        return Moment(progress: progress, resumedAt: offset)
    }
}
