// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The counters that all transfers of a run share: those left to start, and how the others ended.
final class RunCounters: Sendable {
    private let left: Atomic<Int>
    private let open: Atomic<Int>
    private let good = Atomic<Int>(0)
    private let bytes = Atomic<Int>(0)
    private let requests: Int

    init(_ requests: Int) {
        self.requests = requests
        left = Atomic(requests)
        open = Atomic(requests)
    }

    /// Whether one more is to be started.
    func startNext() -> Bool { left.subtract(1, ordering: .relaxed).newValue >= 0 }

    /// Records an end: the bytes received, or nil for a failure.
    ///
    /// - Returns: whether it was the last.
    @discardableResult
    func record(_ received: Int?) -> Bool {
        if let received {
            good.add(1, ordering: .relaxed)
            bytes.add(received, ordering: .relaxed)
        }
        return open.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
    }

    /// The line at the end, and whether all went well.
    var summary: (line: String, succeeded: Bool) {
        let good = good.load(ordering: .relaxed)
        let line = "ok=\(good) failed=\(requests - good) bytes=\(bytes.load(ordering: .relaxed))"
        return (line, good == requests)
    }
}
