// SPDX-License-Identifier: Apache-2.0

import CLinux

/// A time that a test moves, and the loops that live in it: on their threads `Reactor.now` is this time.
///
/// It stands still in between, so that no timer of such a loop fires before the test has come to its
/// deadline, and none is late. From any thread.
package final class ManualTime: Sendable {
    // Safe: one word, which is loaded and stored atomically, allocated for as long as this object lives; the
    // loops hold the object until their threads have left their last turn.
    nonisolated(unsafe) private let cell: UnsafeMutablePointer<Int64>

    /// A time that begins now.
    package init() {
        cell = .allocate(capacity: 1)
        cell.initialize(to: Reactor.now)
    }

    deinit { cell.deallocate() }

    /// Nanoseconds, as `Reactor.now`.
    package var now: Int64 { clinux_load_time(cell) }

    /// Moves the time forward; loops notice it with their next turn, which ``settle(_:)`` has them make.
    package func move(to instant: Int64) { if instant > now { clinux_store_time(cell, instant) } }

    /// Starts a loop whose thread lives in this time.
    package func makeReactor(name: String) throws(ReactorError) -> Reactor {
        let reactor = try Reactor(name: name)
        reactor.perform { [self, weak reactor] in
            clinux_set_moved_time(cell)
            // Keeps this object for as long as the loop runs.
            _ = reactor?.beforeWait { withExtendedLifetime(self) {} }
        }
        return reactor
    }

    /// Returns when a loop has fired the timers that are due: the deadline of the next one, nil for none.
    package static func settle(_ reactor: Reactor) async -> Int64? {
        await withCheckedContinuation { continuation in
            // The items of a turn run before its timers, and what these post in the next one.
            reactor.perform {
                reactor.perform {
                    reactor.perform {
                        continuation.resume(returning: reactor.hasEnded ? nil : reactor.nextDeadline)
                    }
                }
            }
        }
    }
}
