// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing

@testable import reach

@Suite("Subcommands are found by their names")
struct SubcommandTests {
    @Test("UPL-510: the names are those that the parser derives")
    func names() {
        for (name, type) in Reach.subcommands { #expect(type._commandName == name) }
    }

    @Test(
        "UPL-511: a subcommand that is parsed alone is what the whole program would have parsed",
        arguments: [
            [], ["--json", "-4"], ["status", "--host", "a.test"], ["watch", "--json"],
            ["wait", "--for", "wired"],
            ["doctor", "http://a.test/"], ["get", "-o", "-", "http://a.test/"], ["queue"],
            ["queue", "list", "--json"],
            ["queue", "hold", "battery", "--reason", "low"], ["serve", "--config", "/none"], ["history"],
            ["send", "http://a.test/", "--data", "x"], ["replay", "file"], ["record", "file"],
        ])
    func alone(arguments: [String]) throws {
        let (alone, whole) = (try Reach.command(arguments), try Reach.parseAsRoot(arguments))
        // Fields with their values; the parser keeps them as structures.
        #expect("\(alone)" == "\(whole)")
        #expect(type(of: alone) == type(of: whole))
    }

    @Test(
        "UPL-511: where it fails, the message is that of the whole program",
        arguments: [
            ["--version"], ["--help"], ["get"], ["get", "--help"], ["help", "get"], ["status", "--nothing"],
            ["queue", "nothing"], ["queue", "hold"], ["wait", "--for", "nothing"],
            ["doctor", "--color", "blue"],
            ["--generate-completion-script", "bash"],
        ])
    func messages(arguments: [String]) throws {
        // Help is a command of the parser's own, which fails when it runs.
        let message = { (parse: ([String]) throws -> any ParsableCommand) in
            do {
                var command = try parse(arguments)
                try command.run()
                return "no error"
            } catch {
                return "\(Reach.exitCode(for: error).rawValue): \(Reach.fullMessage(for: error))"
            }
        }
        let expected = message { try Reach.parseAsRoot($0) }
        #expect(message { try Reach.command($0) } == expected && expected != "no error")
    }
}
