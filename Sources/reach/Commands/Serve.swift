// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EventLoop
import Glibc
import Logging
import Reachability
import Service
import ServiceCore

/// `reach serve`: the service for all programs of the device.
struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        _superCommandName: Reach.name,
        abstract: "Run the service: tell every program of this machine how the network is.",
        usage: "reach serve [--config <file>] [--check] [--sample] [<options>]",
        discussion: """
            It answers varlink calls on a Unix socket, keeps a history, runs hooks, writes status.json and metrics, tells systemd of \
            its readiness and status, and needs no privileges. SIGHUP reloads it, SIGUSR1 writes its state to the log; \
            SIGTERM and SIGINT end it with exit code 0.

            Each option may stand in the file (hooks.timeout), in the environment (REACH_SERVE_HOOKS_TIMEOUT) or here \
            (--hooks-timeout); here counts most. 'reach serve --sample' prints a file with all of them:

            \(ConfigurationText.help(width: 78))
            """)

    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "The configuration. (default: \(ServicePaths.configuration), where it is there)",
            valueName: "file"))
    var config: String?

    @Flag(
        name: .customLong("check"),
        help: "Print the configuration in force, or what is wrong with it, and end.")
    var checks = false

    @Flag(name: .customLong("sample"), help: "Print a configuration file with every option, and end.")
    var printsSample = false

    @Argument(parsing: .allUnrecognized, help: .hidden)
    var options: [String] = []

    func run() throws {
        if printsSample { return try StandardStream.output.write(ConfigurationText.sample).check() }
        let sources = ServeSources(config: config, options: options)
        let reader = try sources.checked()
        let settings = reader.configuration
        if checks {
            let text = ConfigurationText.effective(settings, sources: reader.sources)
            return try StandardStream.output.write(text).check()
        }
        let group = UnixGroup.number(settings.outbox.group)
        // Before any thread starts: threads inherit the handling of signals, and may change the environment.
        ServiceSignals.block()
        let manager = ServiceManager.consumeEnvironment()
        let sink = LogSink(
            descriptor: StandardStream.error.descriptor, format: settings.log.format,
            journalStream: getenv("JOURNAL_STREAM").map { String(cString: $0) }, level: settings.log.level)
        let logger = Logger.service(sink)
        do throws(ServiceError) {
            var plan = ServicePlan(
                socket: settings.socket, stateDirectory: settings.stateDirectory, outboxGroup: group,
                version: Reach.version)
            plan.configuration = settings.monitoring
            plan.hasOutbox = true
            plan.settings = settings
            if sources.canBeReadAgain {
                plan.reread = { [group = settings.outbox.group] in sources.readAgain(groupInForce: group) }
            }
            plan.parts = { () throws(ServiceError) in
                try ServiceParts.make(settings, version: Reach.version, sink: sink)
            }
            try plan.run(manager) { logger.write($0, $1) }
        } catch {
            complain(error.description)
            switch error.kind {
            case .usage: throw ExitCode.usage
            case .cannotMonitor: throw ExitCode.cannotMonitor
            case .alreadyRunning, .system, .absent, .busy: throw ExitCode.failure
            }
        }
    }
}

/// A group of this machine.
enum UnixGroup {
    /// The number of a group, by name or number; nil for an empty name, and without such a group.
    static func number(_ text: String) -> UInt32? {
        if text.isEmpty { return nil }
        return UInt32(text) ?? getgrnam(text)?.pointee.gr_gid
    }
}
