// SPDX-License-Identifier: Apache-2.0

import CLinux
import Synchronization

/// One thread for everything that waits: descriptors, deadlines, actors and work from other threads.
///
/// Actors live on it by returning it as their `unownedExecutor`. Handlers of descriptors and timers run on the same
/// thread, so an actor reaches its own state in them by `assumeIsolated`, without a hop. All of them have to return
/// soon: nothing else happens meanwhile.
///
/// The thread inherits the network namespace of the thread that creates the reactor (network_namespaces(7)).
package final class Reactor: SerialExecutor, Sendable {
    private static let common = Mutex<Reactor?>(nil)

    /// The reactor that everything in a program shares; started by the first who asks for it, never stopped.
    ///
    /// - Throws: where no descriptor or thread is left; asking again tries again.
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
    /// The thread, until someone has waited for its end.
    private let thread: Mutex<LoopThread?>

    /// Starts a loop on a thread of this name, of which Linux shows the first 15 bytes.
    ///
    /// It ends with `stop`, or when the last reference goes away. Handlers that refer to the reactor keep it alive.
    package init(name: String) throws(ReactorError) {
        let loop = try Loop(name: name)
        self.loop = loop
        thread = Mutex(try LoopThread.start(name: name) { loop.run() })
    }

    deinit {
        stop()
        // Only left to do where the last reference went away on the thread itself, which nobody can join then.
        thread.withLock { $0?.detach() }
    }

    /// Whether the caller runs on the loop's thread.
    package var isCurrent: Bool { loop.isCurrent }

    /// Nanoseconds of CLOCK_MONOTONIC (clock_gettime(2)), the clock of `schedule`.
    package static var now: Int64 { clinux_monotonic_nanoseconds() }

    /// Ends the loop: what is queued is run, with all that it queues; watches and timers are forgotten.
    ///
    /// Returns when the thread has ended, or at once on the thread itself, which then ends with this turn. From any
    /// thread, any number of times. Whoever calls it must not hold what a queued job waits for.
    ///
    /// What is enqueued later still runs in order and isolated, on a passing thread, so that no task waits for ever;
    /// but nothing can be watched any more and timers do not fire.
    package func stop() {
        loop.fulfil(loop.mailbox.withLock { $0.stop() })
        if isCurrent { return }
        thread.withLock {
            $0?.join()
            $0 = nil
        }
    }

    /// What the loop has done so far.
    package var counters: ReactorCounters {
        ReactorCounters(
            turns: loop.turns.load(ordering: .relaxed), wakeUps: loop.wakeUps.load(ordering: .relaxed))
    }
}
