// SPDX-License-Identifier: Apache-2.0

package import EventLoop
import ReachabilityCore
import Synchronization

/// The queue that calls status blocks and observers; no main queue or run loop is needed.
public struct DeliveryQueue: Sendable {
    package let submit: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// A thread of the manager, started for the first block; the default.
    public static var own: DeliveryQueue {
        let thread = OwnThread()
        return DeliveryQueue { thread.perform($0) }
    }

    /// Any executor of closures: `submit` receives each call and may run it on any thread, later.
    ///
    /// For a dispatch queue, serial or concurrent: `.custom { queue.async(execute: $0) }`.
    public static func custom(
        _ submit: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) -> DeliveryQueue {
        DeliveryQueue(submit: submit)
    }

    /// The loop's own thread: without a hop, but a slow observer delays the netlink socket.
    package static func onLoop(_ reactor: Reactor) -> DeliveryQueue {
        DeliveryQueue { work in
            if reactor.isCurrent { work() } else { reactor.perform(work) }
        }
    }
}

/// A thread that starts with the first work and ends with its owner.
private final class OwnThread: Sendable {
    private let reactor = Mutex<Reactor?>(nil)

    func perform(_ work: @escaping @Sendable () -> Void) {
        let running: Reactor? = reactor.withLock { reactor in
            if let reactor { return reactor }
            reactor = try? Reactor(name: "reach-blocks")
            return reactor
        }
        // If no thread can be started, the call runs on this one.
        if let running { running.perform(work) } else { work() }
    }
}
