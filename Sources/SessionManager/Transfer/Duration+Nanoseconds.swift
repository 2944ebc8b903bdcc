// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// Whole nanoseconds, bounded to 146 years either way, so that an instant can be added to them.
    var nanoseconds: Int64 {
        let limit: Int128 = 4_611_686_018_000_000_000
        return Int64(truncatingIfNeeded: min(max(attoseconds / 1_000_000_000, -limit), limit))
    }

    /// Whole milliseconds, rounded up: a limit that is set never becomes none.
    var milliseconds: Int { Int((nanoseconds &+ 999_999) / 1_000_000) }
}
