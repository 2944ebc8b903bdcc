// SPDX-License-Identifier: Apache-2.0

import EventLoop

/// The time when the loop last had something to do, which is near enough for limits of whole seconds.
///
/// Reading it costs nothing, and every line of a head reads it.
final class LoopClock {
    /// Nanoseconds of the monotonic clock.
    private(set) var now = Reactor.now

    func update() { now = Reactor.now }
}
