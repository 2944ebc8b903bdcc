// SPDX-License-Identifier: Apache-2.0

import EventLoop

/// The time when the loop last had something to do, which is near enough for limits of whole seconds.
///
/// Reading it costs nothing, and every line of a head reads it.
final class LoopClock {
    /// Where it is, for those who read it from C.
    let address: UnsafeMutablePointer<Int64>

    init() {
        address = .allocate(capacity: 1)
        address.initialize(to: Reactor.now)
    }

    deinit { address.deallocate() }

    /// Nanoseconds of the monotonic clock.
    var now: Int64 { address.pointee }

    func update() { address.pointee = Reactor.now }
}
