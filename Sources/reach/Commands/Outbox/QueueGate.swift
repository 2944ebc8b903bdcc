// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Outbox
import Reachability

/// `reach queue hold`, `release` and `gates`.
struct QueueHold: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold",
        abstract: "Hold a gate: what names it waits, with its lane, until 'release'; hooks may call it.")

    @OptionGroup var outbox: OutboxOptions

    @Argument(help: ArgumentHelp("The gate's name, as 'reach send --gate' gives it.", valueName: "name"))
    var name: String

    @Option(name: .customLong("reason"), help: ArgumentHelp("Why, for lists.", valueName: "text"))
    var reason = ""

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Release it by itself after so long (90s, 15m, 24h).", valueName: "duration"),
        transform: Value.duration)
    var time: Duration?

    func run() throws {
        let (name, reason, time) = (name, reason, time)
        // As a pause, it holds for later requests too.
        try OutboxOptions.run(at: outbox.location(), makes: true) {
            try await $0.hold(gate: name, reason: reason, for: time)
        }
    }
}

struct QueueRelease: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release", abstract: "Release a gate; 1 if it was not held.")

    @OptionGroup var outbox: OutboxOptions

    @Argument(help: ArgumentHelp("The gate's name.", valueName: "name"))
    var name: String

    func run() throws {
        let name = name
        let wasHeld = try OutboxOptions.run(at: outbox.location()) { try await $0.release(gate: name) }
        guard !wasHeld else { return }
        complain("gate \(name) is not held; 'reach queue gates' lists those that are")
        throw ExitCode.failure
    }
}

struct QueueGates: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gates", abstract: "List the gates that are held, and why.")

    @OptionGroup var outbox: OutboxOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let gates = try OutboxOptions.run(at: outbox.location()) { try await $0.gates() }
        guard output.json else {
            return try StandardStream.output.write(OutboxText.gates(gates, output.style)).check()
        }
        var line = TextLine()
        OutboxJSON.write(gates, to: &line)
        try StandardStream.output.write(line.bytes).check()
    }
}
