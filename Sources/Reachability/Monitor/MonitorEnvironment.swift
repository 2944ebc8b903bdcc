// SPDX-License-Identifier: Apache-2.0

package import EventLoop
package import ReachabilityCore

/// The environment of a monitor: the kernel, or a fake in a test.
package struct MonitorEnvironment: Sendable {
    package var reactor: @Sendable () throws(ReachabilityError) -> Reactor
    /// Makes the source of events; called on the loop's thread.
    package var makeSource:
        @Sendable (Reactor, ReachabilityConfiguration) throws(ReachabilityError) -> any EventSource
    /// Makes the client of the kernel; called on the loop's thread.
    package var makeKernel:
        @Sendable (ReachabilityConfiguration) throws(ReachabilityError) -> any KernelQuerying
    /// The resolver for names, which does not use the loop.
    package var resolver: any NameResolving
    /// The hints about links that evaluations use.
    package var hints: InterfaceHints?
    /// Receives every input of the state machine on the loop's thread; for `reach record`.
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

/// The receiver of a monitor's results; called on the loop's thread.
package struct MonitorDelegate: Sendable {
    /// An update for the observers.
    package var publish: @Sendable (ReachabilityUpdate) -> Void
    /// A new path without an update.
    package var refresh: @Sendable (ReachabilityPath) -> Void
    /// The counters, and the failure and limitations of the monitoring itself.
    package var record: @Sendable (MonitorCounters, ReachabilityError?, MonitorLimitations) -> Void
    /// Takes the reports on all links after each evaluation; nil while no observer wants them.
    package var linkReceiver: @Sendable () -> (@Sendable ([LinkReport]) -> Void)? = { nil }

    package init(
        publish: @escaping @Sendable (ReachabilityUpdate) -> Void,
        refresh: @escaping @Sendable (ReachabilityPath) -> Void,
        record: @escaping @Sendable (MonitorCounters, ReachabilityError?, MonitorLimitations) -> Void
    ) {
        self.publish = publish
        self.refresh = refresh
        self.record = record
    }
}

extension MonitorEnvironment {
    /// The real kernel on the program's shared loop.
    package static let kernel = MonitorEnvironment(
        reactor: { () throws(ReachabilityError) -> Reactor in
            do throws(ReactorError) {
                return try Reactor.shared
            } catch {
                throw ReachabilityError(
                    .outOfResources, errno: error.errno, context: "cannot start the event loop: \(error)",
                    advice: "")
            }
        },
        makeSource: { reactor, configuration throws(ReachabilityError) in
            KernelEventSource(
                reactor: reactor, namespace: try configuration.openNamespace(),
                receiveBufferSize: configuration.receiveBufferSize,
                resume: ResumeDetector(reactor: reactor, threshold: configuration.timing.resumeThreshold))
        },
        makeKernel: { configuration throws(ReachabilityError) in
            KernelClient(namespace: try configuration.openNamespace())
        },
        resolver: SystemResolver())
}

extension ReachabilityConfiguration {
    /// The network namespace for new sockets; nil for the process's own.
    func openNamespace() throws(ReachabilityError) -> NamespaceEntry? {
        guard let networkNamespace else { return nil }
        return try NamespaceEntry(path: networkNamespace)
    }
}
