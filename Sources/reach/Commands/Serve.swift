// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EventLoop
import Glibc
import Reachability
import Service
import ServiceCore

/// `reach serve`: the service that every program of the device can ask.
struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service: tell every program of this machine how the network is.",
        discussion: """
            It answers varlink calls on a Unix socket, tells systemd of its readiness and status, and needs no \
            privileges. SIGHUP reloads its configuration, SIGUSR1 writes its state to the log; SIGTERM and SIGINT end it with \
            exit code 0.
            """)

    @Option(
        name: .customLong("socket"),
        help: ArgumentHelp("Where to listen; @NAME for a socket without a file.", valueName: "path"))
    var socket = ServicePaths.socket

    @Option(
        name: .customLong("state-directory"),
        help: ArgumentHelp("Where to keep what has to last.", valueName: "directory"))
    var stateDirectory = ServicePaths.stateDirectory

    @Option(
        name: .customLong("outbox-group"),
        help: ArgumentHelp(
            "The group that may use the outbox, beside root and the service's user.", valueName: "group"))
    var outboxGroup: String?

    func run() throws {
        // First of all: threads inherit what is done with signals, and the environment has one reader.
        ServiceSignals.block()
        let manager = ServiceManager.take()
        let group = try outboxGroup.map { try Self.group($0) }
        do throws(ServiceError) {
            let plan = ServicePlan(
                socket: socket, stateDirectory: stateDirectory, outboxGroup: group, version: Reach.version)
            try plan.run(manager) { StandardStream.error.write("reach: \($1)\n") }
        } catch {
            complain(error.description)
            switch error.kind {
            case .usage: throw ExitCode.usage
            case .cannotMonitor: throw ExitCode.cannotMonitor
            case .alreadyRunning, .system: throw ExitCode.failure
            }
        }
    }

    /// The number of a group, by name or number.
    private static func group(_ text: String) throws -> UInt32 {
        if let number = UInt32(text) { return number }
        guard let entry = getgrnam(text) else {
            throw ValidationError("--outbox-group: there is no group '\(text)'; 'getent group' lists them.")
        }
        return entry.pointee.gr_gid
    }
}
