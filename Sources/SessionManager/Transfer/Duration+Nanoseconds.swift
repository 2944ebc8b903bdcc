// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

extension Duration {
    /// Whole nanoseconds, bounded to 146 years either way, so that an instant can be added to them.
    var nanoseconds: Int64 { min(max(inNanoseconds, .min / 2), .max / 2) }

    /// Whole milliseconds, rounded up: a limit that is set never becomes none.
    var milliseconds: Int { Int((nanoseconds &+ 999_999) / 1_000_000) }
}
