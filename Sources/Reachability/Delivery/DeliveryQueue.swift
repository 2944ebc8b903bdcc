// SPDX-License-Identifier: Apache-2.0

package import EventLoop
import ReachabilityCore
import Synchronization

/// Where status blocks and observers are called.
///
/// No main queue and no run loop is needed.
public struct DeliveryQueue: Sendable {
    package let submit: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// A thread of the manager's own, started when the first block is to be called.
    ///
    /// The default.
    public static var own: DeliveryQueue {
        let thread = OwnThread()
        return DeliveryQueue { thread.perform($0) }
    }

    /// Anything that runs closures: `submit` is handed each call and may run it on any thread, later.
    ///
    /// A dispatch queue is one: `.custom { queue.async(execute: $0) }`. A concurrent queue serves as well, since one
    /// observer is never called twice at a time.
    public static func custom(
        _ submit: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) -> DeliveryQueue {
        DeliveryQueue(submit: submit)
    }

    /// The loop's own thread: no hop, but whoever is called there holds up the netlink socket.
    package static func onLoop(_ reactor: Reactor) -> DeliveryQueue {
        DeliveryQueue { work in
            if reactor.isCurrent { work() } else { reactor.perform(work) }
        }
    }

    private init(submit: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        self.submit = submit
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
        // Without a thread left to start, being called on this one is better than not being called.
        if let running { running.perform(work) } else { work() }
    }
}
