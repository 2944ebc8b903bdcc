// SPDX-License-Identifier: Apache-2.0

package import EventLoop
import Glibc
package import Reachability
package import ReachabilityCore
package import ServiceCore

/// The configuration of a service: made from the options, run once.
package struct ServicePlan: Sendable {
    package var socket: String
    package var stateDirectory: String
    /// The group that may use the outbox.
    package var outboxGroup: UInt32?
    package var version: String
    package var limits = VarlinkLimits()
    /// Whether a peer is root or the service's own user.
    package var isOwner: @Sendable (PeerCredentials) -> Bool = { [user = geteuid()] in
        $0.isOwner(serviceUser: user)
    }
    /// Whether a peer may use the outbox and give hints; nil for the owners and members of the group.
    package var mayUseOutbox: (@Sendable (PeerCredentials) -> Bool)?
    /// The monitor's target and settings.
    package var configuration = ReachabilityConfiguration()
    /// Whether the service has an outbox and delivers it.
    package var hasOutbox = false
    /// The configuration of the components, and its reader; nil without a source.
    package var settings = ServiceConfiguration()
    package var reread: (@Sendable () -> ConfigurationReader)?
    /// Makes the components that get changes first; called on the loop's thread.
    package var parts: @Sendable () throws(ServiceError) -> [any ServiceComponent] = {
        () throws(ServiceError) in []
    }

    package init(socket: String, stateDirectory: String, outboxGroup: UInt32?, version: String) {
        self.socket = socket
        self.stateDirectory = stateDirectory
        self.outboxGroup = outboxGroup
        self.version = version
    }

    /// Runs the service until SIGTERM or SIGINT.
    package func run(
        _ manager: ServiceManager, log: @escaping @Sendable (LogPriority, String) -> Void
    ) throws(ServiceError) {
        try prepareStateDirectory()
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
        let batches = KernelEventBatches()
        let bound = LoopBound(batches, to: reactor)
        environment.hints = InterfaceHints()
        environment.recorder = { item in bound.here { $0.record(item) } }
        let monitor = ReachabilityManager(.general, configuration, .onLoop(reactor), environment)
        let context = ServiceContext(
            reactor: reactor, manager: monitor, stateDirectory: stateDirectory, log: log)
        let parts = try self.parts()
        let history = parts.lazy.compactMap { $0 as? any HistoryAnswering }.first
        let outbox = hasOutbox ? OutboxService(settings.outbox, isProbed: !settings.probe.url.isEmpty) : nil
        let telemetry = outbox.map { outbox in
            TelemetryReporter(settings.telemetry, version: version) { [weak outbox] in
                outbox?.store($0, $1, $2, $3) ?? $3("the service ends")
            }
        }
        outbox?.hooks = parts.lazy.compactMap { $0 as? FetchHooks }.first
        for case let metrics as MetricsReporter in parts {
            telemetry?.metrics = { [weak metrics] in metrics?.families }
            metrics.outbox = { outbox?.metrics }
            metrics.delivers = { outbox?.delivers }
            metrics.transfers = { outbox?.transfers }
        }
        let statusService = StatusService(
            identity: .init(version: version), batches: batches, history: history, outbox: outbox
        ) { [configuration, environment] host throws(ReachabilityError) in
            try ReachabilityManager.check(host: host, configuration: configuration, in: environment)
        }
        let (user, group) = (geteuid(), outboxGroup)
        var limits = limits
        // Without a group no connections are reserved for members.
        if group != nil { limits.memberClients = 32 }
        for case let metrics as MetricsReporter in parts {
            metrics.links = { [weak statusService] in statusService?.report()?.links }
        }
        let server = VarlinkServer(limits: limits, statusService: statusService) { [mayUseOutbox] in
            mayUseOutbox?($0) ?? $0.mayUseOutbox(serviceUser: user, group: group)
        } isOwner: { [isOwner] in
            isOwner($0)
        } listener: { [socket] () throws(ServiceError) in
            if let number = manager.socket(named: "varlink", isMain: true) {
                return try UnixListener(adopting: number)
            }
            return try UnixListener(path: socket)
        } listening: { [socket, stateDirectory, hasOutbox] in
            guard hasOutbox, let problem = StateDirectoryRecord.leave(stateDirectory, socket: socket)
            else { return }
            log(
                .warning,
                "\(problem); without it commands do not find the outbox while the service is away")
        }
        // The notifier is last: the service is ready when it reports so.
        let own: [any ServiceComponent] = [server, ServiceNotifier(manager)]
        // The telemetry ends before the outbox, which stores its last samples.
        let keepers = ([outbox, telemetry] as [(any ServiceComponent)?]).compactMap(\.self)
        return Service(
            context: context, components: parts + keepers + own, configuration: settings,
            reread: reread)
    }

    /// The service watches the network even with an unwritable disk: the parts that write try again.
    private func prepareStateDirectory() throws(ServiceError) {
        do throws(StateDirectory.Problem) { try StateDirectory(stateDirectory).prepare() } catch {
            guard error.isOfDisk else {
                throw ServiceError("\(error), or give another place by --state-directory")
            }
        }
    }
}

/// The configured components that handle changes.
package enum ServiceParts {
    /// Makes them in the order in which they get a change: the log first, hooks last.
    package static func make(
        _ configuration: ServiceConfiguration, version: String, sink: LogSink? = nil
    ) throws(ServiceError) -> [any ServiceComponent] {
        let files: Reactor
        do throws(ReactorError) { files = try Reactor(name: "reach-files") } catch {
            throw ServiceError("\(error)")
        }
        let counters = ServiceCounters()
        var parts: [any ServiceComponent] = [
            ChangeLogger(configuration.log, counters: counters, sink: sink)
        ]
        if configuration.history.isOn {
            parts.append(HistoryService(configuration.history, files: files, counters: counters))
        }
        if configuration.statusFile {
            parts.append(StatusFile(directory: configuration.statusDirectory, files: files))
        }
        parts.append(
            MetricsReporter(configuration.metrics, version: version, files: files, counters: counters))
        // Even without a directory: a configuration that is read again may name one, and a probe.
        parts.append(HookRunner(configuration.hooks, files: files, counters: counters))
        parts.append(FetchHooks(configuration.hooks, files: files, counters: counters))
        parts.append(InternetService(configuration.probe))
        return parts
    }
}
