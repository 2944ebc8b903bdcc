// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What all transfers of a run share: how many are left to start, and how they ended.
final class RequestCounter: Sendable {
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
    func take() -> Bool { left.subtract(1, ordering: .relaxed).newValue >= 0 }

    /// Notes an end: the bytes received, or nil for a failure.
    ///
    /// - Returns: whether it was the last.
    @discardableResult
    func note(_ received: Int?) -> Bool {
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
