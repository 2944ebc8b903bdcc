// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import Synchronization

/// Repeats work every few seconds on a thread of its own, so that a slow disk delays nothing else.
final class PeriodicSync: Sendable {
    private static let interval = Duration.seconds(5)
    /// The thread; nil before the start, and if none can be started.
    private let reactor = Mutex<Reactor?>(nil)

    /// Begins, once.
    func begin(_ work: @escaping @Sendable () -> Void) {
        let new = reactor.withLock { reactor -> Reactor? in
            guard reactor == nil else { return nil }
            reactor = try? Reactor(name: "reach-sync")
            return reactor
        }
        guard let new else { return }
        new.perform { [weak new] in if let new { Self.repeatedly(work, new) } }
    }

    /// Ends the repetition; no work runs after its return.
    func end() {
        let former = reactor.withLock { reactor -> Reactor? in
            defer { reactor = nil }
            return reactor
        }
        former?.stop()
    }

    private static func repeatedly(_ work: @escaping @Sendable () -> Void, _ reactor: Reactor) {
        let next = Reactor.now &+ Int64(interval.components.seconds) * 1_000_000_000
        _ = reactor.schedule(at: next) { [weak reactor] in
            guard let reactor else { return }
            work()
            repeatedly(work, reactor)
        }
    }
}
