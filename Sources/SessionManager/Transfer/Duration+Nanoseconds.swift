// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// Whole nanoseconds, bounded to 146 years either way, so that an instant can be added to them.
    var nanoseconds: Int64 {
        let limit: Int64 = 4_611_686_018
        let (seconds, attoseconds) = components
        return min(max(seconds, -limit), limit) &* 1_000_000_000 &+ attoseconds / 1_000_000_000
    }

    /// Whole milliseconds, rounded up: a limit that is set never becomes none.
    var milliseconds: Int { Int((nanoseconds &+ 999_999) / 1_000_000) }
}
