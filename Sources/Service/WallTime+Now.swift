// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
package import ReachabilityCore

extension WallTime {
    /// What the wall clock of this machine shows (CLOCK_REALTIME).
    package static func now() -> WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
