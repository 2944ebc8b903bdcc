// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EventLoop
import Glibc
import Logging
import Reachability
import Service
import ServiceCore

/// `reach serve`: the service that every program of the device can ask.
struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
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
        let reader = try read()
        let settings = reader.configuration
        if checks {
            let text = ConfigurationText.effective(settings, places: reader.places)
            return try StandardStream.output.write(text).check()
        }
        let group = try Self.group(settings.outbox.group)
        // Before any thread is started: threads inherit what is done with signals, and the environment has one reader.
        ServiceSignals.block()
        let manager = ServiceManager.take()
        let sink = LogSink(
            descriptor: StandardStream.error.descriptor, format: settings.log.format,
            journalStream: getenv("JOURNAL_STREAM").map { String(cString: $0) })
        let logger = Logger.service(settings.log, sink)
        do throws(ServiceError) {
            var plan = ServicePlan(
                socket: settings.socket, stateDirectory: settings.stateDirectory, outboxGroup: group,
                version: Reach.version)
            plan.configuration = settings.monitoring
            plan.hasOutbox = true
            plan.parts = { () throws(ServiceError) in try ServiceParts.make(settings, version: Reach.version)
            }
            try plan.run(manager) { logger.write($0, $1) }
        } catch {
            complain(error.description)
            switch error.kind {
            case .usage: throw ExitCode.usage
            case .cannotMonitor: throw ExitCode.cannotMonitor
            case .alreadyRunning, .system: throw ExitCode.failure
            }
        }
    }

    /// Puts the configuration together, or says everything that is wrong with it.
    private func read() throws(ExitCode) -> ConfigurationReader {
        var reader = ConfigurationReader()
        let file = config ?? ServicePaths.configuration
        if config != nil || access(file, F_OK) == 0 { reader.read(file: file, try Self.content(file)) }
        reader.read(environment: Self.environment())
        reader.read(arguments: options)
        reader.finish()
        guard reader.problems.isEmpty else {
            for problem in reader.problems { complain(problem.description) }
            throw .usage
        }
        return reader
    }

    private static func content(_ file: String) throws(ExitCode) -> [UInt8] {
        let input = try InputFile(file)
        var bytes: [UInt8] = []
        while bytes.count <= TOMLReader.sizeLimit {
            let piece = try input.next()
            if piece.isEmpty { break }
            bytes += piece
        }
        return bytes
    }

    private static func environment() -> [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let words = String(cString: text).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if words.count == 2 { variables[String(words[0])] = String(words[1]) }
            entry += 1
        }
        return variables
    }

    /// The number of a group, by name or number.
    private static func group(_ text: String) throws(ExitCode) -> UInt32? {
        if text.isEmpty { return nil }
        if let number = UInt32(text) { return number }
        guard let entry = getgrnam(text) else {
            complain("outbox.group: there is no group '\(text)'; 'getent group' lists them")
            throw .usage
        }
        return entry.pointee.gr_gid
    }
}
