// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import reach

/// `reach serve` as it runs on a device: real kernel, real socket, stock clients.
@Suite(
    "reach serve", .timeLimit(.minutes(10)),
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct ServeTests {
    @Test(
        "the stock client: info, description, a call, an error, and every change of a cable that is pulled",
        .enabled(
            if: StockClient.isAvailable, "packaging/bootstrap --tests installs the Python package varlink"))
    func stockClient() async throws {
        let lab = try await ServeLab()
        let client = try await lab.lab.near.start(StockClient.command(StockClient.watching, lab.socket))
        #expect(
            await client.output.comes({ $0.contains("monitor initial wired None") }),
            "\(client.output.elements) \(client.standardError)")
        let lines = client.output.elements
        #expect(lines.contains("info reach ['org.varlink.service', 'io.reach.Reachability']"))
        #expect(lines.contains("status wired v0 v0"))
        #expect(lines.contains("error io.reach.Reachability.TimedOut"))
        try await lab.lab.far.ip("link set p0 down")
        #expect(await client.output.comes({ $0.contains("monitor status unreachable wired") }))
        try await lab.lab.far.ip("link set p0 up")
        #expect(await client.output.comes({ $0.contains("monitor status wired unreachable") }))
        // The end of the service ends the watch, without an error of the client.
        #expect(try await lab.stop() == .exited(0))
        _ = try await client.status()
    }

    @Test("systemd hears of readiness, of each status in a sentence, of a reload, and of the end")
    func notifications() async throws {
        let lab = try await ServeLab()
        let ready = try #require(lab.notices.elements.first)
        #expect(ready.hasPrefix("READY=1\nSTATUS=wired through v0: default route via 10.0.0.1"))
        try await lab.lab.far.ip("link set p0 down")
        #expect(await lab.notices.wait { $0.contains { $0.hasPrefix("STATUS=unreachable: v0") } }.count > 1)
        lab.service.terminate(signal: SIGHUP)
        #expect(await lab.notices.comes({ $0.contains("READY=1") }))
        #expect(lab.notices.elements.contains { $0.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") })
        lab.service.terminate()
        #expect(try await lab.service.status() == .exited(0))
        #expect(await lab.notices.comes({ $0.contains("STOPPING=1") }))
        try await lab.remove()
    }

    @Test("the watchdog is fed")
    func watchdog() async throws {
        let lab = try await ServeLab(environment: ["WATCHDOG_USEC=50000"])
        let fed = await lab.notices.wait { $0.count { $0 == "WATCHDOG=1" } >= 3 }
        #expect(fed.count { $0 == "WATCHDOG=1" } >= 3)
        #expect(try await lab.stop() == .exited(0))
    }

    @Test("reach status shows since when, once the service has seen it begin, and only for the same network")
    func since() async throws {
        let lab = try await ServeLab()
        let arguments = ["env", "REACH_SOCKET=\(lab.socket)", BuiltProgram.reach, "status", "--json"]
        let before = try await lab.lab.near.run(arguments)
        #expect(before.contains(#""since":null"#))
        try await lab.lab.far.ip("link set p0 down")
        #expect(await lab.notices.comes({ $0.contains { $0.hasPrefix("STATUS=unreachable") } }))
        // A busy service may not answer within the short time limit of `reach status`, so it runs again.
        let since = #""status":"unreachable","since":"2"#
        var after = try await lab.lab.near.reactor.run(arguments)
        for _ in 0..<100 where !after.text.contains(since) {
            after = try await lab.lab.near.reactor.run(arguments)
        }
        #expect(after.status == .exited(1))
        #expect(after.text.contains(since), "\(after.text)")
        let watch = [
            "env", "REACH_SOCKET=\(lab.socket)", BuiltProgram.reach, "watch", "--json", "--count", "1",
        ]
        var line = ""
        for _ in 0..<100 where !line.contains(since) { line = try await lab.lab.near.run(watch) }
        #expect(line.contains(since), "\(line)")
        let elsewhere = try await lab.lab.far.reactor.run(arguments)
        #expect(elsewhere.text.contains(#""since":null"#), "\(elsewhere.text)")
        #expect(try await lab.stop() == .exited(0))
    }

    @Test(
        "FLD-109 a second service says where the first one answers and leaves its files; after kill -9 the next one starts at the same socket"
    )
    func second() async throws {
        let lab = try await ServeLab()
        let command = [BuiltProgram.reach, "serve", "--socket", lab.socket, "--state-directory", lab.folder]
        let status = lab.folder + "/run/status.json"
        // The file is written on a thread of its own.
        for _ in 0..<1_000 where access(status, F_OK) != 0 { try await lab.lab.near.run("true") }
        let second = try await lab.lab.near.reactor.run(command)
        #expect(access(status, F_OK) == 0)
        #expect(second.status == .exited(1))
        #expect(second.errors.contains("another service answers at \(lab.socket)"))
        lab.service.terminate(signal: SIGKILL)
        #expect(try await lab.service.status() == .killed(signal: SIGKILL))
        let third = try await lab.lab.near.start(["env", "NOTIFY_SOCKET=\(lab.folder)/notify"] + command)
        #expect(await lab.notices.wait { $0.count { $0.hasPrefix("READY=1") } == 2 }.count > 1)
        third.terminate(signal: SIGINT)
        #expect(try await third.status() == .exited(0))
        #expect(access(lab.socket, F_OK) != 0 && access(lab.socket + ".lock", F_OK) != 0)
        try await lab.remove()
    }

    @Test("the socket that systemd opened is used; its variables of the environment are not passed on")
    func activation() async throws {
        // The process ID is known once the process runs, so a shell that becomes the program sets the
        // variable.
        let activate = """
            import os, socket, sys
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(sys.argv[1])
            listener.listen()
            os.dup2(listener.fileno(), 3)
            os.set_inheritable(3, True)
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="varlink")
            os.execv(sys.argv[2], sys.argv[2:])
            """
        var template = Array("\(TemporaryFolder.path)/serve.XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let socket = folder + "/activated"
        let lab = try await ServeLab(wrapper: ["python3", "-c", activate, socket])
        #expect(access(lab.socket, F_OK) != 0)
        let status = try await lab.lab.near.reactor.run(
            StockClient.rights(socket))
        #expect(status.text.hasPrefix("wired\n"), "\(status.errors)")
        #expect(try await lab.stop() == .exited(0))
        // The socket is systemd's, and stays.
        #expect(access(socket, F_OK) == 0)
        try await lab.lab.far.run("rm", "-rf", folder)
    }

    @Test(
        "a thousand idle clients, noise and an endless message: the others are served, the memory stays",
        .enabled(
            if: StockClient.isAvailable, "packaging/bootstrap --tests installs the Python package varlink"))
    func crowd() async throws {
        let lab = try await ServeLab()
        let result = try await lab.lab.near.reactor.run(StockClient.command(StockClient.crowd, lab.socket))
        #expect(result.text == "served wired\n", "\(result.errors)")
        let memory = try #require(lab.service.residentKiB)
        // A sanitizer needs several bytes for each byte of the program.
        #expect(memory < (BuiltProgram.isInstrumented ? 600 : 60) << 10, "\(memory) KiB")
        #expect(try await lab.stop() == .exited(0))
    }

    @Test(
        "every user may ask for the status, briefly, and only some for the outbox",
        .enabled(if: geteuid() == 0, "another user can be played by root alone"))
    func rights() async throws {
        let lab = try await ServeLab(options: ["--outbox-group", "54321"])
        func ask(_ credentials: String...) async throws -> String {
            let command = StockClient.rights(lab.socket)
            let result = try await lab.lab.near.reactor.run(["setpriv"] + credentials + ["--"] + command)
            return result.text + result.errors
        }
        let allowed = "wired\nentries\nwired\n"
        #expect(try await ask("--reuid", "0") == allowed)
        // Only users who may send bodies may send messages of their size.
        let denied = "wired\norg.varlink.service.PermissionDenied\nio.reach.Reachability.MalformedMessage\n"
        #expect(try await ask("--reuid", "65534", "--regid", "65534", "--clear-groups") == denied)
        #expect(
            try await ask("--reuid", "65534", "--regid", "65534", "--groups", "54321") == allowed)
        #expect(try await lab.stop() == .exited(0))
    }

    @Test(
        "what a stranger may have put into the state directory is not delivered: the service does not start",
        .enabled(if: geteuid() == 0, "another user can be played by root alone"))
    func strangersState() async throws {
        let lab = try await NetworkLab(.f0)
        let folder = try ScratchFolder("reach-state")
        func serve(_ name: String, mode: mode_t, owner: uid_t = 0) async throws -> ProgramResult {
            #expect(mkdir(folder(name), 0o700) == 0 && chmod(folder(name), mode) == 0)
            #expect(chown(folder(name), owner, 0) == 0)
            // With a time limit, in case the service starts all the same.
            return try await lab.near.reactor.run([
                "timeout", "--preserve-status", "20", BuiltProgram.reach, "serve", "--socket",
                folder("socket"), "--state-directory", folder(name),
            ])
        }
        let others = try await serve("others", mode: 0o755, owner: 65534)
        #expect(others.status == .exited(1))
        #expect(others.errors.contains("\(folder("others")) belongs to user 65534"), "\(others.errors)")
        let open = try await serve("open", mode: 0o777)
        #expect(open.status == .exited(1))
        #expect(open.errors.contains("\(folder("open")) may be written by every user"), "\(open.errors)")
        #expect(access(folder("open") + "/outbox", F_OK) != 0)
    }

    @Test("what the service has inherited stays with it: hooks have their output open, and nothing else")
    func inheritedDescriptors() async throws {
        let folder = try ScratchFolder("reach-hooks")
        let hook =
            "#!/bin/sh\nfor n in 3 9 250; do [ -e /proc/self/fd/$n ] && echo inherited $n; done; echo looked\n"
        #expect(FileManager.default.createFile(atPath: folder("a"), contents: Data(hook.utf8)))
        #expect(chmod(folder("a"), 0o755) == 0)
        let lab = try await ServeLab(
            wrapper: ["bash", "-c", "exec 2>&1 3</dev/zero 9</dev/zero 250</dev/zero; exec \"$@\"", "bash"],
            options: ["--hooks-directory", folder.path])
        #expect(await lab.service.output.comes { $0.contains { $0.hasSuffix("hook a: looked") } })
        #expect(!lab.service.output.elements.joined().contains("inherited"), "\(lab.service.output.elements)")
        #expect(try await lab.stop() == .exited(0))
    }

    @Test("what cannot be is said at the start, with what to try")
    func wrongUse() async throws {
        let lab = try await NetworkLab(.f0)
        func serve(_ arguments: String...) async throws -> (TestSupport.ExitStatus, String) {
            let result = try await lab.near.reactor.run([BuiltProgram.reach, "serve"] + arguments)
            return (result.status, result.errors)
        }
        let (status, errors) = try await serve(
            "--state-directory", "/proc/nowhere", "--socket", "@reach-test")
        #expect(status == .exited(1))
        #expect(errors.contains("/proc/nowhere") && errors.contains("--state-directory"))
        let long = "/" + String(repeating: "a", count: 120)
        let (code, _) = try await serve("--state-directory", TemporaryFolder.path, "--socket", long)
        #expect(code == .exited(64) || code == .exited(1))
        #expect(try await serve("--outbox-group", "no such group").0 == .exited(64))
    }
}
