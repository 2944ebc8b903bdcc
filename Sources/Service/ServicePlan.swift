// SPDX-License-Identifier: Apache-2.0

package import EventLoop
import Glibc
package import Reachability
import ReachabilityCore
package import ServiceCore

/// What a service is to be: made from the options, run once.
package struct ServicePlan: Sendable {
    package var socket: String
    package var stateDirectory: String
    /// The group that may use the outbox.
    package var outboxGroup: UInt32?
    package var version: String
    package var limits = VarlinkLimits()

    package init(socket: String, stateDirectory: String, outboxGroup: UInt32?, version: String) {
        self.socket = socket
        self.stateDirectory = stateDirectory
        self.outboxGroup = outboxGroup
        self.version = version
    }

    /// Runs it until SIGTERM or SIGINT.
    package func run(
        _ manager: ServiceManager, log: @escaping @Sendable (LogPriority, String) -> Void
    ) throws(ServiceError) {
        try makeStateDirectory()
        let reactor: Reactor
        do throws(ReactorError) { reactor = try Reactor.shared } catch { throw ServiceError("\(error)") }
        try ServiceRun.run(on: reactor) { () throws(ServiceError) in
            try make(reactor, .kernel, manager, log: log)
        }
    }

    /// Makes the service on the loop's thread.
    package func make(
        _ reactor: Reactor, _ environment: MonitorEnvironment, _ manager: ServiceManager,
        log: @escaping @Sendable (LogPriority, String) -> Void
    ) throws(ServiceError) -> Service {
        var environment = environment
        let notices = KernelNotices()
        let bound = LoopBound(notices, to: reactor)
        environment.recorder = { item in bound.here { $0.note(item) } }
        let configuration = ReachabilityConfiguration()
        let monitor = ReachabilityManager(.general, configuration, .onLoop(reactor), environment)
        let context = ServiceContext(
            reactor: reactor, manager: monitor, stateDirectory: stateDirectory, log: log)
        return Service(context: context, components: [ServiceNotifier(manager)])
    }

    private func makeStateDirectory() throws(ServiceError) {
        if mkdir(stateDirectory, 0o700) == 0 || errno == EEXIST, access(stateDirectory, W_OK | X_OK) == 0 {
            return
        }
        throw ServiceError(
            "\(stateDirectory): \(String(cString: strerror(errno))); give another place by --state-directory")
    }
}
