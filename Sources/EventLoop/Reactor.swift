// SPDX-License-Identifier: Apache-2.0

import CLinux
import Synchronization

/// One thread for all waiting: descriptors, deadlines, actors and work from other threads.
///
/// Actors live on it by returning it as their `unownedExecutor`. Handlers run on the same thread, so an actor
/// reaches its own state in them by `assumeIsolated`; all have to return soon. The thread inherits the
/// network namespace of the thread that creates the reactor (network_namespaces(7)).
package final class Reactor: Sendable {
    private static let common = Mutex<Reactor?>(nil)

    /// The reactor that the whole program shares; started by the first access, never stopped.
    ///
    /// - Throws: if no descriptor or thread is left; the next access tries again.
    package static var shared: Reactor {
        get throws(ReactorError) {
            try common.withLock { reactor throws(ReactorError) in
                if let reactor { return reactor }
                let new = try Reactor(name: "reach")
                reactor = new
                return new
            }
        }
    }

    let loop: Loop
    /// The thread, until `stop` has joined it.
    private let thread: Mutex<LoopThread?>

    /// Starts a loop on a thread of this name, of which Linux shows the first 15 bytes.
    ///
    /// The loop ends with `stop`, or with the last reference, which handlers may hold.
    package init(name: String) throws(ReactorError) {
        let loop = try Loop(name: name)
        self.loop = loop
        thread = Mutex(try LoopThread.start(name: name) { loop.run() })
    }

    deinit {
        stop()
        // Still set if the last reference was released on the thread itself, where no join is possible.
        thread.withLock { $0?.detach() }
    }

    /// Whether the caller runs on the loop's thread.
    package var isCurrent: Bool { loop.isCurrent }

    /// Nanoseconds of CLOCK_MONOTONIC (clock_gettime(2)), the clock of `schedule`.
    package static var now: Int64 { clinux_monotonic_nanoseconds() }

    /// Ends the loop: queued items run, with all that they queue; watches and timers are removed.
    ///
    /// Returns when the thread has ended, or at once on the thread itself. The caller holds no lock that a
    /// queued item waits for. Items posted later still run, in order, on a temporary thread, so that no task
    /// waits for ever; but watches are refused and timers do not fire.
    package func stop() {
        loop.perform(loop.queue.withLock { $0.stop() })
        if isCurrent { return }
        thread.withLock {
            $0?.join()
            $0 = nil
        }
    }

    package var counters: ReactorCounters {
        ReactorCounters(
            turns: loop.turns.load(ordering: .relaxed), wakeUps: loop.wakeUps.load(ordering: .relaxed))
    }
}

/// Counts a loop's work since its start.
package struct ReactorCounters: Sendable, Equatable {
    /// One at the start and one for each return from the wait; an idle loop makes none.
    package var turns: Int
    /// How often another thread woke the loop by a system call.
    package var wakeUps: Int
}
