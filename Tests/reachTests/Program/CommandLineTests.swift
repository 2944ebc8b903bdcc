// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import ReachabilityCore
import ServiceCore
import Testing

@testable import reach

@Suite("The command line")
struct CommandLineTests {
    @Test("help")
    func help() throws {
        try Golden.check(Reach.help(columns: 80), "help.txt")
        try Golden.check(Reach.helpMessage(for: Status.self, columns: 80), "help-status.txt")
        try Golden.check(Reach.helpMessage(for: Watch.self, columns: 80), "help-watch.txt")
        try Golden.check(Reach.helpMessage(for: Wait.self, columns: 80), "help-wait.txt")
        try Golden.check(Reach.helpMessage(for: Doctor.self, columns: 80), "help-doctor.txt")
        try Golden.check(Reach.helpMessage(for: Get.self, columns: 80), "help-get.txt")
        try Golden.check(Reach.helpMessage(for: Record.self, columns: 80), "help-record.txt")
        try Golden.check(Reach.helpMessage(for: Replay.self, columns: 80), "help-replay.txt")
        try Golden.check(Reach.helpMessage(for: Send.self, columns: 80), "help-send.txt")
        try Golden.check(Reach.helpMessage(for: Fetch.self, columns: 80), "help-fetch.txt")
        try Golden.check(Reach.helpMessage(for: Queue.self, columns: 80), "help-queue.txt")
        try Golden.check(Reach.helpMessage(for: QueueList.self, columns: 80), "help-queue-list.txt")
        try Golden.check(Reach.helpMessage(for: Serve.self, columns: 80), "help-serve.txt")
        try Golden.check(Reach.helpMessage(for: History.self, columns: 80), "help-history.txt")
    }

    @Test("without a subcommand it is status")
    func standard() throws {
        #expect(try Reach.parseAsRoot([]) is Status)
        let status = try #require(
            try Reach.parseAsRoot(["--json", "-4", "--mark", "0x10", "--uid", "0", "--port", "853"])
                as? Status)
        #expect(status.output.json)
        let configuration = status.subject.configuration()
        #expect(configuration.family == .ipv4)
        #expect(configuration.mark == 16)
        #expect(configuration.user == 0)
        #expect(configuration.port == 853)
        #expect(configuration.reportsLinks)
    }

    @Test("a first word that is no subcommand")
    func unknownSubcommand() {
        #expect(Reach.unknownSubcommand(["wat", "--json"]) == "wat")
        #expect(Reach.unknownSubcommand(["example.com"]) == "example.com")
        #expect(Reach.unknownSubcommand([""])?.isEmpty == true)
        #expect(Reach.unknownSubcommand(["help", "wat"]) == "wat")
        for arguments in [
            [], ["-4"], ["--host", "a"], ["status"], ["watch"], ["wait"], ["help", "wait"], ["help"],
        ] {
            #expect(Reach.unknownSubcommand(arguments) == nil, "\(arguments)")
        }
    }

    @Test("wrong usage is printed in the terminal's width, without control characters of the arguments")
    func narrowUsage() {
        let arguments = ["doctor", "--color", "para\u{1B}[31mdise"]
        #expect(throws: (any Error).self) { try Reach.parseAsRoot(arguments) }
        guard case .failure(let error) = Result(catching: { try Reach.parseAsRoot(arguments) }) else {
            return
        }
        let message = Reach.fullMessage(for: error)
        let text = UsageText.text(message, Style(width: 40))
        let lines = text.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 40 }, "\(text)")
        #expect(lines.first?.hasPrefix("Error: The value 'para") == true && text.hasSuffix("\n"), "\(text)")
        #expect(
            lines.contains("Usage: reach doctor [<url>] [--cacert")
                && lines.contains("       <file>] [--probe-status <code>]"))
        #expect(!text.contains("\u{1B}"))
        #expect(
            UsageText.text("Usage: reach a\n  See b", Style(isUnicode: true)) == "Usage: reach a\n  See b\n")
    }

    @Test("values are read as written")
    func values() throws {
        let wait = try #require(
            try Reach.parseAsRoot([
                "wait", "--for", "wifi", "--interface", "wlan0", "--stable", "0.25", "--timeout", "0", "-q",
                "-6",
                "--host", "[2001:db8::1]",
            ]) as? Wait)
        #expect(wait.goal == .wifi)
        #expect(wait.interfaces == ["wlan0"])
        #expect(wait.stable == .milliseconds(250))
        #expect(wait.timeout == .zero)
        #expect(wait.isQuiet)
        #expect(wait.subject.host?.text == "2001:db8::1")
        #expect(try (Reach.parseAsRoot(["wait", "--timeout", ".5"]) as? Wait)?.timeout == .milliseconds(500))
        #expect(try (Reach.parseAsRoot(["wait"]) as? Wait)?.timeout == .seconds(30))
        #expect(try (Reach.parseAsRoot(["record"]) as? Record)?.file == "-")
    }

    @Test(
        "hosts that are taken",
        arguments: [
            "example.com", "example.com.", "localhost", "a_b.local", "192.0.2.1", "::1", "fe80::1%eth0",
            "[fe80::1%eth0]", "::ffff:192.0.2.1", "xn--bcher-kva.example", "1a.example", "a.b-c.d",
        ])
    func goodHosts(text: String) throws { _ = try HostText(text) }

    @Test("FLD-080 a zone in brackets is that of a URL (RFC 6874)") func zoneOfURL() throws {
        #expect(try HostText("[fe80::1%25eth0]").text == "fe80::1%eth0")
        #expect(try HostText("fe80::1%25eth0").text == "fe80::1%25eth0")
        #expect(try HostText("[2001:db8::1]").text == "2001:db8::1")
        #expect(try HostText("::ffff:192.0.2.1").family == .ipv4)
    }

    @Test("FLD-039 an international host is asked for by the name that goes over the network")
    func internationalHosts() throws {
        #expect(try HostText("Bücher.example").text == "xn--bcher-kva.example")
        #expect(try Value.url("https://bücher.example/a").absoluteString == "https://xn--bcher-kva.example/a")
    }

    @Test(
        "wrong usage ends with 64 and a sentence",
        arguments: [
            ["--frobnicate"], ["frobnicate"], ["--host", ""], ["--host", "https://example.com/"],
            ["--host", "example.com:80"], ["--host", "300.1.1.1"], ["--host", "1.2.3"], ["--host", "a..b"],
            ["--host", "-a.b"], ["--host", "a b"], ["--host", "☃.example"], ["--host", "fe80::1%"],
            ["--host", "192.0.2.1%eth0"], ["--host", "1:2"], ["--host", String(repeating: "a", count: 64)],
            ["--host", "a\u{1B}[31m"], ["-4", "-6"], ["-6", "--host", "192.0.2.1"], ["-4", "--host", "::1"],
            ["--mark", "-1"], ["--mark", "0xx"], ["--mark", "4294967296"], ["--uid", "root"],
            ["--uid", "-1"], ["--port", "0"], ["--port", "65536"], ["--port", "https"],
            ["--color", "sometimes"], ["watch", "--count", "0"], ["watch", "--count", "x"],
            ["watch", "--timeout", "-1"], ["watch", "--timeout", "nan"], ["watch", "--timeout", "1e3"],
            ["watch", "--timeout", "99999999999"], ["watch", "--timeout", ""], ["watch", "--timeout", "."],
            ["watch", "--timeout", "1."],
            ["watch", "--timeout", "1.2.3"],
            ["wait", "--for", "paradise"], ["wait", "--interface", "a/b"], ["wait", "--interface", ""],
            ["wait", "--interface", "averyveryverylongname"], ["wait", "--stable", "soon"], ["replay"],
            ["replay", "a", "b"], ["get"], ["get", "example.com"], ["get", "ftp://example.com/"],
            ["get", "http://a/", "-O"], ["get", "http://a/b", "-O", "-o", "c"], ["get", "http://a/..", "-O"],
            ["get", "http://a/b", "--resume"], ["get", "http://a/b", "-o", "c", "--resume", "-d", "x"],
            ["get", "http://a/b", "--sha256", "12"], ["get", "http://a/b", "--pin", "sha256//x"],
            ["get", "http://a/b", "--pin", "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="],
            ["get", "http://a/b", "-H", "nonsense"], ["get", "http://a/b", "-H", "A: b\nC: d"],
            ["get", "http://a/b", "-X", "A B"], ["get", "http://a/b", "--key", "k"],
            ["get", "http://a/b", "--progress", "loud"], ["get", "http://a/b", "-o", ""],
            ["history", "--since", "1h", "--until", "2h"],
        ])
    func wrongUsage(arguments: [String]) {
        do {
            var command = try Reach.parseAsRoot(arguments)
            try command.validate()
            Issue.record("\(arguments) was taken")
            _ = command
        } catch {
            #expect(Reach.exitCode(for: error) == .usage, "\(arguments)")
            #expect(Reach.fullMessage(for: error).count > 20)
        }
    }

    @Test("--version")
    func version() {
        do {
            _ = try Reach.parseAsRoot(["--version"])
            Issue.record("nothing was thrown")
        } catch {
            #expect(Reach.exitCode(for: error) == .success)
            #expect(Reach.message(for: error) == Reach.version)
        }
    }
}
