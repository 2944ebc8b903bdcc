// SPDX-License-Identifier: Apache-2.0

package import EventLoop
package import ReachabilityCore

/// What a monitor stands on: the kernel, or something else in a test.
package struct MonitorEnvironment: Sendable {
    /// The loop to live on.
    package var reactor: @Sendable () throws(ReachabilityError) -> Reactor
    /// Makes the source of events; called on the loop's thread.
    package var makeSource:
        @Sendable (Reactor, ReachabilityConfiguration) throws(ReachabilityError) -> any EventSource
    /// Makes the one who answers; called on the loop's thread.
    package var makeKernel:
        @Sendable (ReachabilityConfiguration) throws(ReachabilityError) -> any KernelQuerying
    /// Resolves names, off the loop.
    package var resolver: any NameResolving
    /// Is told everything that goes into the machine, on the loop's thread; for `reach record`.
    package var recorder: (@Sendable (RecordedItem) -> Void)?

    package init(
        reactor: @escaping @Sendable () throws(ReachabilityError) -> Reactor,
        makeSource:
            @escaping @Sendable (Reactor, ReachabilityConfiguration) throws(ReachabilityError) ->
            any EventSource,
        makeKernel:
            @escaping @Sendable (ReachabilityConfiguration) throws(ReachabilityError) -> any KernelQuerying,
        resolver: any NameResolving
    ) {
        self.reactor = reactor
        self.makeSource = makeSource
        self.makeKernel = makeKernel
        self.resolver = resolver
    }
}

/// Where a monitor tells what it finds; all of it is called on the loop's thread.
package struct MonitorOutlet: Sendable {
    /// Something for the observers.
    package var publish: @Sendable (ReachabilityUpdate) -> Void
    /// The path is this, but nobody needs to be told.
    package var refresh: @Sendable (ReachabilityPath) -> Void
    /// The counters, and what is wrong with the monitoring itself.
    package var note: @Sendable (MonitorCounters, ReachabilityError?, MonitorLimitations) -> Void

    package init(
        publish: @escaping @Sendable (ReachabilityUpdate) -> Void,
        refresh: @escaping @Sendable (ReachabilityPath) -> Void,
        note: @escaping @Sendable (MonitorCounters, ReachabilityError?, MonitorLimitations) -> Void
    ) {
        self.publish = publish
        self.refresh = refresh
        self.note = note
    }
}
