// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import SessionManager
import Synchronization

/// Passes the progress of the transfer and its waiting reasons to the thread that draws.
final class GetMeter: Sendable {
    /// The progress at a moment.
    struct Moment: Sendable, Equatable {
        var progress: TransferProgress.Snapshot
        /// The bytes of an earlier run.
        var resumedAt: Int64
    }

    private let state = Mutex<(newest: TaskBinding.Moment?, resumedAt: Int64)>((nil, 0))
    private let binding = Mutex<TaskBinding?>(nil)
    private let start = Mutex(Clock.monotonic)
    /// Whose sentences these are, where there are several.
    private let name: String?
    private let tries = Mutex<(count: Int, sentence: String?)>((0, nil))

    init(name: String? = nil) { self.name = name }

    /// The work begins now.
    func begin() { start.withLock { $0 = Clock.monotonic } }

    /// The number of repeated attempts.
    var retries: Int { tries.withLock { $0.count } }

    /// Records that another attempt follows: the reason and its time.
    func recordRetry(_ sentence: String) { store(sentence, counts: true) }

    /// Records that another server is asked.
    func recordMirror(_ sentence: String) { store(sentence, counts: false) }

    private func store(_ sentence: String, counts: Bool) {
        let sentence = name.map { "\($0): \(sentence)" } ?? sentence
        tries.withLock { $0 = ($0.count + (counts ? 1 : 0), sentence) }
    }

    /// The report on the last attempt, once.
    func consumeRetry() -> String? {
        tries.withLock { tries in
            defer { tries.sentence = nil }
            return tries.sentence
        }
    }

    /// The time since the start of the work.
    var elapsed: Duration { Clock.monotonic - start.withLock { $0 } }

    /// Follows this task from now on.
    func follow(_ task: SessionTask, resumedAt offset: Int64 = 0) {
        state.withLock { $0 = (nil, offset) }
        // Called on the transfer's own thread: it stores a number only, so no other thread is needed.
        let binding = TaskBinding(queue: .custom { $0() }) { [weak self] moment in
            self?.state.withLock { $0.newest = moment }
        }
        binding.bind(to: task)
        self.binding.withLock { $0 = binding }
    }

    /// The reason why the network, what it must be, or the clock holds the transfer; nil while it runs.
    var waitingReason: HoldReason? {
        switch state.withLock({ $0.newest?.waitingReason }) {
        case .network(let sentence): .network(sentence)
        case .clock: .clock
        case .condition(let condition): .condition(condition)
        default: nil
        }
    }

    /// Nil before the first byte.
    var moment: Moment? {
        let (newest, offset) = state.withLock { $0 }
        guard let progress = newest?.download, progress.completedBytes > 0 else { return nil }
        return Moment(progress: progress, resumedAt: offset)
    }
}

/// Knows which download is whose: has its record written before the content comes, and tells of mirrors.
final class GetRecords: SessionDelegate {
    private let owners = Mutex<[Int: (files: GetFiles?, meter: GetMeter)]>([:])

    /// A task downloads these files; nil where it downloads to a temporary one.
    func follow(_ task: SessionTask, _ files: GetFiles?, _ meter: GetMeter) {
        owners.withLock { $0[task.identifier] = (files, meter) }
    }

    func task(_ task: SessionTask, didReceive response: SessionResponse) async -> ResponseDisposition {
        owners.withLock { $0[task.identifier]?.files }?.begin(task.originalRequest, response)
        return .allow
    }

    /// Tells a task's meter which mirror is asked, and why; on the transfer's own thread.
    var monitor: EventMonitor {
        EventMonitor(queue: .custom { $0() }) { [self] task, step in
            guard case .mirror(let url, let error) = step else { return }
            let cause = GetRetries.cause(error, error.response?.statusCode)
            owners.withLock { $0[task.identifier]?.meter }?.recordMirror(
                "\(cause); \(url.host() ?? "") is asked")
        }
    }
}
