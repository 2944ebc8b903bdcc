// SPDX-License-Identifier: Apache-2.0

/// An instant of the monotonic clock (CLOCK_MONOTONIC, clock_gettime(2)), which ignores changes of the wall
/// clock and stops while the machine sleeps.
package struct MonotonicInstant: Sendable, Hashable, Comparable {
    /// Nanoseconds since an arbitrary start, usually boot.
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static func < (a: Self, b: Self) -> Bool { a.nanoseconds < b.nanoseconds }

    /// The instant after a duration; saturates 292 years after the clock's start.
    package static func + (a: Self, b: Duration) -> Self { a.advanced(by: b.inNanoseconds) }

    package static func - (a: Self, b: Self) -> Duration { .nanoseconds(a.nanoseconds &- b.nanoseconds) }

    /// The instant after so many nanoseconds, saturating; a `Duration` would be a 128-bit number.
    package func advanced(by nanoseconds: Int64) -> Self {
        let (sum, isBeyond) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        return Self(nanoseconds: isBeyond ? (nanoseconds < 0 ? .min : .max) : sum)
    }

    package func nanoseconds(since earlier: Self) -> Int64 { nanoseconds &- earlier.nanoseconds }
}

extension Duration {
    /// The whole nanoseconds; saturates beyond 292 years.
    package var inNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
}

/// Delays that double up to a limit.
package struct Backoff: Sendable, Equatable {
    private let first: Duration
    private let limit: Duration
    private var next: Duration

    package init(first: Duration, limit: Duration) {
        self.first = first
        self.limit = limit
        next = first
    }

    /// The delay before the next attempt; each call doubles the next one.
    package mutating func nextDelay() -> Duration {
        let pause = next
        next = min(next * 2, limit)
        return pause
    }

    /// Returns to the first delay.
    package mutating func reset() { next = first }
}
