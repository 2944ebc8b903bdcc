// SPDX-License-Identifier: Apache-2.0

import CLinux
import SessionManager

/// What two clocks show at one moment: the one that people set, and the one that nobody does.
struct ClockReading: Sendable, Equatable {
    /// The device's clock, in milliseconds since 1970.
    var wall: Int64
    /// How long the machine has been running, its sleep included (CLOCK_BOOTTIME), in milliseconds.
    var elapsed: Int64
    /// Which start of the machine that counts from (`boot_id`, random(4)); empty where the kernel does not tell.
    var boot: String

    static var now: ClockReading {
        ClockReading(
            wall: WallClock.now, elapsed: clinux_boot_nanoseconds() / 1_000_000,
            boot: BootIdentifier.current)
    }

    /// When the machine was started, by the device's clock: it changes where that is set, and at no other time.
    var start: Int64 { wall - elapsed }

    /// Who sets a clock sets it by this or more, in milliseconds: what is less comes of reading one clock after the other.
    static let slack: Int64 = 1_000
}
