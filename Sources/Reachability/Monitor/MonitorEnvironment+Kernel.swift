// SPDX-License-Identifier: Apache-2.0

import EventLoop
import ReachabilityCore

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
                route: NetlinkSource(
                    reactor: reactor, namespace: try configuration.openNamespace(),
                    receiveBufferSize: configuration.receiveBufferSize),
                resume: ResumeDetector(reactor: reactor, threshold: configuration.timing.resumeThreshold))
        },
        makeKernel: { configuration throws(ReachabilityError) in
            KernelQuery(namespace: try configuration.openNamespace())
        },
        resolver: SystemResolver())
}

extension ReachabilityConfiguration {
    /// The network namespace to open sockets in; nil for the process's own.
    func openNamespace() throws(ReachabilityError) -> NamespaceEntry? {
        guard let networkNamespace else { return nil }
        return try NamespaceEntry(path: networkNamespace)
    }
}
