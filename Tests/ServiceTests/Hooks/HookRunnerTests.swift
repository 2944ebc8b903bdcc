// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc
import ReachabilityCore
import Service
import ServiceCore
import TestSupport
import Testing

@Suite("Hooks: real programs", .timeLimit(.minutes(10)))
struct HookRunnerTests {
    private func bench(
        timeout: Duration = .seconds(600), output: Int64 = 16_384, _ hooks: [String: String],
        prepare: (ScratchFolder) throws -> Void = { _ in }
    ) async throws -> ServiceBench<HookRunner> {
        let folder = try ScratchFolder("reach-hooks")
        for (name, body) in hooks { try Self.write(body, folder(name)) }
        try prepare(folder)
        return try await ServiceBench(in: folder) { folder, files, counters in
            var settings = ServiceConfiguration.Hooks()
            settings.directory = folder.path
            settings.timeout = timeout
            settings.output = output
            return HookRunner(settings, files: files, counters: counters)
        }
    }

    private static func write(_ body: String, _ path: String, mode: mode_t = 0o755) throws {
        let descriptor = try OwnedDescriptor(
            "open", open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o700))
        let text = "#!/bin/sh\n\(body)\n"
        #expect(Glibc.write(descriptor.number, text, text.utf8.count) == text.utf8.count)
        #expect(fchmod(descriptor.number, mode) == 0)
    }

    @Test("each program is run in the order of the names, with its arguments and nothing but its environment")
    func order() async throws {
        // What the test program was started with, and a hook must not see.
        #expect(getenv("HOME") != nil || getenv("TMPDIR") != nil)
        let bench = try await bench([
            "20-b": "echo $(basename $0) $1 $2 $REACH_PREVIOUS $REACH_STATUS",
            "10-a":
                "echo $(basename $0) $1 $2 $REACH_REASON_CODE; env | grep -c -e REACH_ -e PATH= -e PWD= | grep -qx 23; env | grep -e ^HOME= -e ^TMPDIR=; exit 3",
        ])
        try await bench.notify(.at(1, .wired, was: .unreachable))
        let lines = await bench.log.wait(forCount: 3)
        #expect(
            lines == [
                "info: hook 10-a: 10-a status eth0 defaultRoute",
                "warning: hook 10-a failed with exit code 3",
                "info: hook 20-b: 20-b status eth0 unreachable wired",
            ])
        await bench.stop()
        #expect(try await bench.counters { [$0.hookRuns, $0.hookFailures] } == [2, 1])
    }

    @Test("what others could have put there is refused, with a reason, once")
    func refused() async throws {
        let bench = try await bench(["d": "echo ran"]) { folder in
            try Self.write("echo never", folder("a"), mode: 0o775)
            try Self.write("echo never", folder("b"), mode: 0o644)
            #expect(symlink(folder("d"), folder("c")) == 0)
            try Self.write("echo never", folder("e~"))
        }
        try await bench.notify(.at(1, .wired, event: .initial))
        await bench.log.wait { $0.contains("info: hook d: ran") }
        try await bench.notify(.at(2, .unreachable, was: .wired))
        let lines = await bench.log.wait { $0.count { $0 == "info: hook d: ran" } == 2 }
        await bench.stop()
        let path = bench.folder.path
        #expect(
            Set(lines) == [
                "warning: hooks: \(path)/a may be written by others (chmod go-w); it is not run",
                "warning: hooks: \(path)/b is not executable (chmod +x); it is not run",
                "warning: hooks: \(path)/c is a symbolic link; put the program itself there; it is not run",
                "info: hook d: ran",
            ])
        #expect(lines.count == 5)
    }

    @Test("of a directory that others may write in nothing is run")
    func openDirectory() async throws {
        let bench = try await bench(["a": "echo never"]) { #expect(chmod($0.path, 0o777) == 0) }
        try await bench.notify(.at(1, .wired, event: .initial))
        let lines = await bench.log.wait(forCount: 1)
        await bench.stop()
        #expect(
            lines == [
                "warning: hooks: \(bench.folder.path) may be written by others (chmod go-w); nothing in it is run"
            ])
    }

    @Test("a directory that is missing is none")
    func missing() async throws {
        let bench = try await ServiceBench { folder, files, counters in
            var settings = ServiceConfiguration.Hooks()
            settings.directory = folder("nothing-here")
            return HookRunner(settings, files: files, counters: counters)
        }
        try await bench.notify(.at(1, .wired, event: .initial))
        await bench.stop()
        #expect(bench.log.elements == [])
    }

    @Test("a hook that does not end in time gets a signal, then is killed with its children")
    func timeout() async throws {
        let bench = try await bench(
            timeout: .milliseconds(100),
            ["a": "trap '' TERM; sleep 86400 & echo child $!; while :; do wait; done"])
        try await bench.notify(.at(1, .wired, event: .initial))
        let first = try #require(await bench.log.wait(forCount: 1).first)
        let child = try #require(first.split(separator: " ").last.flatMap { Int32($0) }, "\(first)")
        // Opened before the child can be gone: its end makes this readable.
        let watch = clinux_pidfd_open(child)
        let lines = await bench.log.wait(forCount: 2)
        #expect(lines.last == "warning: hook a did not end within 100ms and was killed")
        if watch >= 0 {
            let ended = EventLog<Bool>()
            let loop = bench.loop
            try await loop.result {
                try loop.watch(watch, for: .readable) { _ in
                    loop.unwatch(watch)
                    close(watch)
                    ended.append(true)
                }
            }
            #expect(await ended.wait(forCount: 1) == [true])
        }
        await bench.stop()
        #expect(try await bench.counters { $0.hookFailures } == 1)
    }

    @Test("ten thousand changes while a program runs: one more round, with the newest")
    func newest() async throws {
        let bench = try await bench([
            "a": "echo $1 $REACH_STATUS $REACH_SKIPPED; read line <$(dirname $0)/gate"
        ]) {
            #expect(mkfifo($0("gate"), 0o600) == 0)
        }
        let gate = try OwnedDescriptor("gate", open(bench.folder("gate"), O_RDWR | O_NONBLOCK | O_CLOEXEC))
        try await bench.notify(.at(0, .unreachable, event: .initial))
        await bench.log.wait { $0.contains("info: hook a: status unreachable 0") }
        try await bench.notify(CommittedChange.storm(10_000))
        #expect(Glibc.write(gate.number, "\n", 1) == 1)
        let lines = await bench.log.wait { $0.contains { $0.hasPrefix("info: hook a: status wired") } }
        #expect(lines.last == "info: hook a: status wired 9999")
        #expect(Glibc.write(gate.number, "\n", 1) == 1)
        await bench.stop()
        #expect(try await bench.counters { [$0.hookRuns, $0.hooksSkipped] } == [2, 9999])
    }

    @Test("what a program writes goes to the log, so much of it and no more")
    func output() async throws {
        let bench = try await bench(
            output: 12, ["a": "printf 'one\\ntwo\\033[2J\\nthree and more\\n'; exec 1>&-; exec 2>&-; exit 0"])
        try await bench.notify(.at(1, .wired, event: .initial))
        let lines = await bench.log.wait { $0.contains { $0.hasSuffix("more)") } }
        await bench.stop()
        #expect(
            lines == [
                "info: hook a: one", "info: hook a: two\u{FFFD}[2J", "info: hook a: (15 bytes more)",
            ])
    }

    @Test("the end of the service ends the program that runs, and no other begins")
    func stop() async throws {
        let bench = try await bench([
            "a": "trap 'echo ended; exit 0' TERM; echo begun; while :; do sleep 86400 & wait; done",
            "b": "echo never",
        ])
        try await bench.notify(.at(1, .wired, event: .initial))
        await bench.log.wait { $0.contains("info: hook a: begun") }
        await bench.stop()
        #expect(bench.log.elements.contains("info: hook b: never") == false)
        #expect(bench.log.elements.filter { $0.hasPrefix("warning") } == [])
    }
}
