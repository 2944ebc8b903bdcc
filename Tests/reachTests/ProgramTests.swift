// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import reach

/// Runs the built program: exit codes, streams and signals.
///
/// Everything asks about 127.0.0.1, so it is the same on every machine with a loopback interface.
@Suite("The program", .timeLimit(.minutes(10)))
struct ProgramTests {
    private struct Result {
        var code: Int32
        var output: String
        var errors: String
    }

    /// A started program.
    private final class Run {
        let process = Process()
        let output = Pipe()
        let errors = Pipe()

        init(_ arguments: [String], input: String? = nil) throws {
            process.executableURL = URL(fileURLWithPath: BuiltProgram.reach)
            process.arguments = arguments
            // Nothing of what this process was given, but what the sanitizers need.
            process.environment = ProcessInfo.processInfo.environment
                .filter { $0.key.hasSuffix("SAN_OPTIONS") || $0.key == "LD_PRELOAD" }
                .merging(["LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"]) { $1 }
            process.standardOutput = output
            process.standardError = errors
            let pipe = Pipe()
            process.standardInput = pipe
            try process.run()
            if let input { pipe.fileHandleForWriting.write(Data(input.utf8)) }
            try pipe.fileHandleForWriting.close()
        }

        func end() -> Result {
            let output = output.fileHandleForReading.readDataToEndOfFile()
            let errors = errors.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return Result(
                code: process.terminationReason == .exit
                    ? process.terminationStatus : -process.terminationStatus,
                output: String(decoding: output, as: UTF8.self),
                errors: String(decoding: errors, as: UTF8.self))
        }
    }

    private func run(_ arguments: String..., input: String? = nil) throws -> Result {
        try Run(arguments, input: input).end()
    }

    @Test("status: 0 where reachable, data on standard output only")
    func status() throws {
        let text = try run("--host", "127.0.0.1")
        #expect(text.code == 0)
        #expect(text.output.hasPrefix("● 127.0.0.1: wired  lo (loopback) 127.0.0.1\n"))
        #expect(!text.output.contains("\u{1B}"))
        #expect(text.errors.isEmpty)
        let json = try run("status", "--json", "--explain", "--host", "127.0.0.1")
        #expect(json.code == 0)
        #expect(json.output.hasPrefix(#"{"schema":1,"status":"wired","since":null,"interface":"lo""#))
        #expect(json.output.contains(#""explain":[{"question":"#))
        #expect(json.output.split(separator: "\n").count == 1)
    }

    @Test("status: 1 where unreachable")
    func unreachable() throws {
        let result = try run("--json", "--host", "fe80::1%nosuch0")
        #expect(result.code == 1)
        #expect(result.output.contains(#""status":"unreachable""#))
    }

    @Test("colour in a pipe only when demanded")
    func color() throws {
        #expect(try run("--color", "always", "--host", "127.0.0.1").output.contains("\u{1B}[32m"))
    }

    @Test("wrong usage is 64, with the words on standard error")
    func usage() throws {
        for arguments in [["--frobnicate"], ["--host", "300.1.1.1"], ["wait", "--timeout", "x"]] {
            let result = try Run(arguments).end()
            #expect(result.code == 64)
            #expect(result.output.isEmpty)
            #expect(result.errors.hasPrefix("Error: "))
        }
    }

    @Test("a word that is no subcommand; help that ends with where to find more")
    func words() throws {
        let unknown = try run("wat")
        #expect(unknown.code == 64)
        #expect(unknown.output.isEmpty)
        #expect(unknown.errors == "reach: no subcommand 'wat'; see reach --help\n")
        for arguments in [["--help"], ["-h"], ["help"]] {
            let help = try Run(arguments).end()
            #expect(help.code == 0)
            #expect(help.output.hasSuffix("See 'reach help status' for its options.\n"))
        }
    }

    @Test(
        "a full disk is never success",
        arguments: [
            "watch --count 1", "watch --json --timeout 300", "status", "status --json", "replay -", "--help",
        ])
    func fullDisk(arguments: String) throws {
        // Somebody may have put a file there, on which anything can be written.
        let kind = try FileManager.default.attributesOfItem(atPath: "/dev/full")[.type] as? FileAttributeType
        try #require(kind == .typeCharacterSpecial)
        let process = Process()
        let errors = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let recorded = arguments == "replay -" ? try run("record", "--timeout", "0.1").output : ""
        process.arguments = [
            "-c", "printf %s \"$1\" | exec \"$0\" \(arguments) >/dev/full", BuiltProgram.reach, recorded,
        ]
        process.standardError = errors
        try process.run()
        let words = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 74)
        #expect(
            String(decoding: words, as: UTF8.self) == "reach: standard output: No space left on device\n")
    }

    @Test("watch: first line at once, --count, --timeout")
    func watch() throws {
        let counted = try run("watch", "--json", "--count", "1", "--host", "127.0.0.1")
        #expect(counted.code == 0)
        #expect(counted.output.split(separator: "\n").count == 1)
        #expect(counted.output.contains(#""event":"initial","previous":null"#))
        let timed = try run("watch", "--timeout", "0.1", "--host", "127.0.0.1")
        #expect(timed.code == 0)
        #expect(timed.output.hasPrefix("● 127.0.0.1: wired"))
    }

    @Test("watch ends with 0 on SIGINT and SIGTERM", arguments: [SIGINT, SIGTERM])
    func signals(signal: Int32) throws {
        let running = try Run(["watch", "--json", "--host", "127.0.0.1"])
        // The first line says that the program is ready for signals.
        let first = running.output.fileHandleForReading.availableData
        #expect(!first.isEmpty)
        kill(running.process.processIdentifier, signal)
        let result = running.end()
        #expect(result.code == 0)
        #expect(result.errors.isEmpty)
    }

    @Test("watch ends quietly when its reader leaves")
    func readerLeaves() throws {
        let running = try Run(["watch", "--json", "--host", "127.0.0.1"])
        _ = running.output.fileHandleForReading.availableData
        try running.output.fileHandleForReading.close()
        running.process.waitUntilExit()
        #expect(running.process.terminationReason == .exit)
        #expect(running.process.terminationStatus == 0)
        #expect(running.errors.fileHandleForReading.readDataToEndOfFile().isEmpty)
    }

    @Test("watch ends quietly where standard output is closed")
    func closedOutput() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "exec \"$0\" watch --json --host 127.0.0.1 >&-", BuiltProgram.reach]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test("wait: 0 when met, 2 with a line for each link when not")
    func wait() throws {
        let met = try run("wait", "--host", "127.0.0.1", "--stable", "0.05")
        #expect(met.code == 0)
        #expect(met.output == "● 127.0.0.1: wired  lo (loopback) 127.0.0.1\n")
        let unmet = try run("wait", "--host", "127.0.0.1", "--for", "unreachable", "--timeout", "0.1")
        #expect(unmet.code == 2)
        #expect(unmet.output.isEmpty)
        #expect(
            unmet.errors.hasPrefix(
                "reach: 127.0.0.1 not unreachable after 0.1 s: 127.0.0.1 is this machine\n"))
        let quiet = try run("wait", "-q", "--host", "127.0.0.1", "--for", "wifi", "--timeout", "0.1")
        #expect(quiet.code == 2)
        #expect(quiet.output.isEmpty && quiet.errors.isEmpty)
    }

    @Test("wait: 130 on SIGINT, and never ends by itself with --timeout 0")
    func interruptedWait() throws {
        let running = try Run(["wait", "--host", "127.0.0.1", "--for", "unreachable", "--timeout", "0"])
        // Blocked signals show when the program waits (proc_pid_status(5)): SIGINT is bit 1. The kernel has no event for that.
        for _ in 0..<500 where !blocksInterrupts(running.process.processIdentifier) { usleep(10_000) }
        kill(running.process.processIdentifier, SIGINT)
        #expect(running.end().code == 130)
    }

    private func blocksInterrupts(_ process: Int32) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("SigBlk:") }),
            let mask = UInt64(line.dropFirst(7).drop { $0 == "\t" }, radix: 16)
        else { return false }
        return mask & 0b10 != 0
    }

    @Test("record writes what replay reads")
    func recordAndReplay() throws {
        let recorded = try run("record", "--timeout", "0.1", "--host", "127.0.0.1")
        #expect(recorded.code == 0)
        #expect(recorded.output.hasPrefix("reach-recording 1\nstart wall="))
        let replayed = try run("replay", "-", "--json", input: recorded.output)
        #expect(replayed.code == 0)
        #expect(replayed.errors.isEmpty)
        #expect(replayed.output.contains(#""interface":"lo""#))
        #expect(replayed.output.contains(#""event":"initial""#))
    }

    @Test("replay and record: 64 for what is no recording or cannot be opened")
    func brokenReplay() throws {
        let garbage = try run("replay", "-", input: "hello\n")
        #expect(garbage.code == 64)
        #expect(garbage.errors.hasPrefix("reach: -: line 1: this is not a recording"))
        #expect(try run("replay", "/nonexistent").code == 64)
        #expect(try run("record", "/nonexistent/file").code == 64)
    }
}
