// SPDX-License-Identifier: Apache-2.0

import CLinux
import SessionManager

/// The wall clock and the boot clock at one moment.
struct ClockReading: Sendable, Equatable {
    /// The device's clock, in milliseconds since 1970.
    var wall: Int64
    /// How long the machine has been running, its sleep included (CLOCK_BOOTTIME), in milliseconds.
    var elapsed: Int64
    /// The boot that `elapsed` counts from.
    var boot: String

    static var now: ClockReading {
        ClockReading(
            wall: WallClock.now, elapsed: clinux_boot_nanoseconds() / 1_000_000,
            boot: BootIdentifier.current)
    }

    /// When the machine was started, by the device's clock: it changes where that is set, and at no other time.
    var start: Int64 { wall - elapsed }

    /// Differences below this, in milliseconds, come from reading one clock after the other.
    static let slack: Int64 = 1_000
}
