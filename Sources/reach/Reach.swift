// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The program: one file for each subcommand, all text in `Output`.
@main
struct Reach: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reach",
        abstract: "Tells whether the network can be reached, which way, and if not, what is missing.",
        discussion: """
            Without a subcommand it is 'reach status'. It asks the kernel's routing table and sends no packet.

            Exit codes: 0 reachable, or the condition is met; 1 unreachable or unknown; 2 timed out; \
            3 the kernel cannot be asked; 64 wrong usage; 130 interrupted. JSON and exit codes are stable, text for \
            people is not.
            """,
        version: Self.version,
        subcommands: [Status.self, Watch.self, Wait.self, Record.self, Replay.self],
        defaultSubcommand: Status.self)

    static let version = "0.1.0"

    static func main() {
        StandardStream.prepare()
        main(nil)
    }
}
