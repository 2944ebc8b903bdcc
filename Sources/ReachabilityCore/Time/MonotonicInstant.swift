// SPDX-License-Identifier: Apache-2.0

/// A moment on the monotonic clock (CLOCK_MONOTONIC, clock_gettime(2)): it does not jump when the wall clock
/// is set and does not run while the machine sleeps.
package struct MonotonicInstant: Sendable, Hashable, Comparable {
    /// Nanoseconds since an arbitrary start, usually boot.
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static func < (a: Self, b: Self) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Later by a duration; the end of time where that lies beyond it, 292 years after the clock's start.
    package static func + (a: Self, b: Duration) -> Self { a.advanced(by: b.inNanoseconds) }

    package static func - (a: Self, b: Self) -> Duration { .nanoseconds(a.nanoseconds &- b.nanoseconds) }

    /// Later by nanoseconds; the end of time where that lies beyond it.
    ///
    /// The machine counts in these: a `Duration` is a 128-bit number.
    package func advanced(by nanoseconds: Int64) -> Self {
        let (sum, isBeyond) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        return Self(nanoseconds: isBeyond ? (nanoseconds < 0 ? .min : .max) : sum)
    }

    /// How many nanoseconds have passed since `earlier`.
    package func nanoseconds(since earlier: Self) -> Int64 { nanoseconds &- earlier.nanoseconds }
}

extension Duration {
    /// The whole nanoseconds; saturates beyond 292 years.
    package var inNanoseconds: Int64 {
        Int64(clamping: attoseconds / 1_000_000_000)
    }
}
