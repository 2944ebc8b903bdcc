// SPDX-License-Identifier: Apache-2.0

/// Tells how long the machine slept, from two clocks.
///
/// CLOCK_BOOTTIME runs while the machine sleeps and CLOCK_MONOTONIC does not (clock_gettime(2)); neither follows
/// the wall clock. So their difference grows by the sleep, and a wall clock that is set changes nothing.
package struct SleepGauge: Sendable {
    private let threshold: Duration
    private var slept: Int64

    /// A gauge that counts from these readings, in nanoseconds.
    package init(threshold: Duration, boottime: Int64, monotonic: Int64) {
        self.threshold = threshold
        slept = boottime &- monotonic
    }

    /// The sleep since the last time one was told, where it exceeds the threshold.
    package mutating func observed(boottime: Int64, monotonic: Int64) -> Duration? {
        let total = boottime &- monotonic
        let growth = Duration.nanoseconds(total &- slept)
        guard growth > threshold else { return nil }
        slept = total
        return growth
    }
}
