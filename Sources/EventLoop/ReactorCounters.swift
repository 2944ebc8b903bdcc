// SPDX-License-Identifier: Apache-2.0

/// What a loop has done since its start.
package struct ReactorCounters: Sendable, Equatable {
    /// Turns: one at the start and one for each return from the wait.
    ///
    /// An idle loop makes none.
    package var turns: Int
    /// How often another thread had to wake the loop by a system call.
    package var wakeUps: Int
}
