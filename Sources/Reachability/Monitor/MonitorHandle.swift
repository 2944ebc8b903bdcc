// SPDX-License-Identifier: Apache-2.0

package import EventLoop
package import ReachabilityCore

/// A monitor for use on other threads.
package struct MonitorHandle: Sendable {
    private let monitor: LoopBound<ReachabilityMonitor>

    package init(
        target: MonitorTarget, configuration: ReachabilityConfiguration, environment: MonitorEnvironment,
        reactor: Reactor, delegate: MonitorDelegate
    ) {
        monitor = LoopBound(
            ReachabilityMonitor(
                target: target, configuration: configuration, environment: environment, reactor: reactor,
                delegate: delegate),
            to: reactor)
    }

    /// Starts, and returns after the first evaluation.
    package func startAndWait() { performAndWait { $0.start() } }

    /// Stops, and returns when the sockets are closed.
    package func stop() { performAndWait { $0.end() } }

    package func request() { monitor.perform { $0.handle([.requested]) } }

    /// The same, and returns after the evaluation.
    func requestAndWait() { performAndWait { $0.handle([.requested]) } }

    /// Requests an evaluation, and calls back on the loop when all resulting updates are published.
    package func whenSettled(_ body: @escaping @Sendable () -> Void) {
        monitor.perform { $0.whenSettled(body) }
    }

    private func performAndWait(_ body: @escaping @Sendable (ReachabilityMonitor) -> Void) {
        if monitor.reactor.isCurrent { return monitor.here(body) }
        let done = ConditionLock(false)
        monitor.perform {
            body($0)
            done.withLock { $0 = true }
        }
        done.wait { $0 }
    }
}

/// The target of a monitor.
package enum MonitorTarget: Sendable, Equatable {
    /// Any destination.
    case general
    /// Addresses, which need no resolver.
    case addresses([ReachabilityDestination])
    /// A name, which must be resolved.
    case name(String)

    /// A host as text: a literal with or without brackets and zone, or a name.
    package init(_ host: String) {
        if let destination = ReachabilityDestination(host) {
            self = .addresses([destination])
        } else {
            self = .name(host)
        }
    }
}
