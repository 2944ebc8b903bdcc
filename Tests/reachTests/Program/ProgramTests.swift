// SPDX-License-Identifier: Apache-2.0

import CTestSupport
import Foundation
import TestSupport
import Testing

@testable import reach

/// Runs the built program: exit codes, streams and signals.
///
/// All tests are about 127.0.0.1, so they are the same on every machine with a loopback interface.
@Suite("The program", .timeLimit(.minutes(10)))
struct ProgramTests {
    private struct Result {
        var code: Int32
        var output: String
        var errors: String
    }

    /// A started program; not Foundation's `Process`, which reads beyond its buffer
    /// (swift-corelibs-foundation of Swift 6.3) and so ends an instrumented test program.
    private final class Run {
        let process: pid_t
        let output: FileHandle
        private let errors: FileHandle

        convenience init(_ arguments: [String], input: String = "") throws {
            try self.init(command: [BuiltProgram.reach] + arguments, input: input)
        }

        init(command: [String], input: String = "") throws {
            let pipes = (Pipe(), Pipe(), Pipe())
            (output, errors) = (pipes.1.fileHandleForReading, pipes.2.fileHandleForReading)
            let ends = [
                pipes.0.fileHandleForReading, pipes.1.fileHandleForWriting, pipes.2.fileHandleForWriting,
            ]
            // Without this process's variables, but for those that the sanitizers need.
            let variables = ProcessInfo.processInfo.environment
                .filter { $0.key.hasSuffix("SAN_OPTIONS") || $0.key == "LD_PRELOAD" }
                .merging(["LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"]) { $1 }
            process = try Self.spawn(command, variables.map { "\($0)=\($1)" }, ends.map(\.fileDescriptor))
            for end in ends { try end.close() }
            pipes.0.fileHandleForWriting.write(Data(input.utf8))
            try pipes.0.fileHandleForWriting.close()
        }

        private static func spawn(_ command: [String], _ variables: [String], _ streams: [Int32]) throws
            -> pid_t
        {
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            for (number, stream) in streams.enumerated() {
                posix_spawn_file_actions_adddup2(&actions, stream, Int32(number))
            }
            // Closes descriptors that other tests have opened meanwhile: an inherited end of a pipe would
            // keep its reader waiting.
            clinux_spawn_closes_others(&actions)
            let words = (command.map { strdup($0) } + [nil], variables.map { strdup($0) } + [nil])
            defer { for word in words.0 + words.1 { free(word) } }
            var process = pid_t()
            let failure = posix_spawn(&process, command[0], &actions, nil, words.0, words.1)
            guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO) }
            return process
        }

        func end() -> Result {
            let output = output.readDataToEndOfFile()
            return wait(output)
        }

        /// Waits for a program whose output is read already, or not read at all.
        func wait(_ output: Data = Data()) -> Result {
            let errors = errors.readDataToEndOfFile()
            var word: Int32 = 0
            while waitpid(process, &word, 0) < 0, errno == EINTR {}
            let signal = word & 0x7f
            return Result(
                code: signal == 0 ? word >> 8 & 0xff : -signal,
                output: String(decoding: output, as: UTF8.self),
                errors: String(decoding: errors, as: UTF8.self))
        }
    }

    private func run(_ arguments: String..., input: String = "") throws -> Result {
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
        // The path may be a regular file, to which anything can be written.
        let kind = try FileManager.default.attributesOfItem(atPath: "/dev/full")[.type] as? FileAttributeType
        try #require(kind == .typeCharacterSpecial)
        let recorded = arguments == "replay -" ? try run("record", "--timeout", "0.1").output : ""
        let result = try Run(command: [
            "/bin/sh", "-c", "printf %s \"$1\" | exec \"$0\" \(arguments) >/dev/full", BuiltProgram.reach,
            recorded,
        ]).end()
        #expect(result.code == 74)
        #expect(result.errors == "reach: standard output: No space left on device\n")
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
        // The first line proves that the program handles signals.
        let first = running.output.availableData
        #expect(!first.isEmpty)
        kill(running.process, signal)
        let result = running.end()
        #expect(result.code == 0)
        #expect(result.errors.isEmpty)
    }

    @Test("watch ends quietly when its reader leaves")
    func readerLeaves() throws {
        let running = try Run(["watch", "--json", "--host", "127.0.0.1"])
        _ = running.output.availableData
        try running.output.close()
        let result = running.wait()
        #expect(result.code == 0)
        #expect(result.errors.isEmpty)
    }

    @Test(
        "FLD-032 standard output that is closed is never success",
        arguments: [
            "watch --json --host 127.0.0.1", "watch --count 1", "status", "status --json", "doctor", "--help",
            "help get", "--version", "serve --sample", "record - --timeout 0.1",
        ])
    func closedOutput(_ arguments: String) throws {
        let command = ["/bin/sh", "-c", "exec \"$0\" \(arguments) >&-", BuiltProgram.reach]
        let result = try Run(command: command).end()
        #expect(result.code == 74 && result.errors.contains("Bad file descriptor"), "\(result)")
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
        // Blocked signals show that the program waits (proc_pid_status(5)): SIGINT is bit 1. The kernel has
        // no event for that, so this polls.
        for _ in 0..<500 where !blocksInterrupts(running.process) { usleep(10_000) }
        kill(running.process, SIGINT)
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
        let empty = try run("replay", "/dev/null")
        #expect(empty.code == 64)
        #expect(empty.errors == "reach: /dev/null: line 1: the file ends before the recording begins\n")
        #expect(try run("replay", "/nonexistent").code == 64)
        #expect(try run("record", "/nonexistent/file").code == 64)
    }
}
