// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// `reach get` with two ways to its server, on a real kernel: the first one dies in the middle.
@Suite(
    "Transfers survive their path",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct FailoverTests {
    private func get(_ paths: TwoPaths, _ arguments: String...) async throws -> RunningProgram {
        try await get(paths, arguments)
    }

    private func get(_ paths: TwoPaths, _ arguments: [String]) async throws -> RunningProgram {
        let start =
            "unset http_proxy https_proxy no_proxy; LC_ALL=C.UTF-8; export LC_ALL; exec \"$0\" get \"$@\""
        return try await paths.lab.near.start(["/bin/sh", "-c", start, BuiltProgram.reach] + arguments)
    }

    @Test("A download goes on by range over the other path", arguments: TwoPaths.Cut.allCases)
    func download(_ cut: TwoPaths.Cut) async throws {
        let paths = try await TwoPaths()
        let file = "\(paths.folder)/blob"
        let program = try await get(paths, "\(paths.base)/blob?stall=524288", "-o", file)
        try await paths.wait(for: "\(file).part", bytes: 512 << 10)
        try await paths.cut(cut)
        #expect(try await program.status() == .exited(0), "\(program.standardError)")
        #expect(try await paths.difference(of: file) == "")
        let requests = try await paths.requests(2)
        #expect(requests.count == 2)
        #expect(requests[0].peer == "10.1.0.2")
        #expect(requests[1].peer == TwoPaths.secondAddress)
        #expect(requests[1].start == 512 << 10)
        #expect(requests[1].twice == 0)
    }

    @Test("So does one by IPv6", arguments: [TwoPaths.Cut.linkDown, .carrierLost])
    func sixth(_ cut: TwoPaths.Cut) async throws {
        let paths = try await TwoPaths(isIPv6: true)
        let file = "\(paths.folder)/blob"
        let program = try await get(paths, "\(paths.base)/blob?stall=524288", "-o", file)
        try await paths.wait(for: "\(file).part", bytes: 512 << 10)
        try await paths.cut(cut)
        #expect(try await program.status() == .exited(0), "\(program.standardError)")
        #expect(try await paths.difference(of: file) == "")
        let requests = try await paths.requests(2)
        #expect(requests.map(\.peer) == ["2001:db8:1::2", "2001:db8:2::2"])
        #expect(requests.map(\.start) == [0, 512 << 10])
    }

    @Test("So does one by TLS")
    func secureDownload() async throws {
        let paths = try await TwoPaths(isSecure: true)
        let file = "\(paths.folder)/blob"
        let program = try await get(
            paths, "\(paths.base)/blob?stall=524288", "-o", file, "--cacert", "\(paths.folder)/server.pem")
        try await paths.wait(for: "\(file).part", bytes: 512 << 10)
        try await paths.cut(.linkDown)
        #expect(try await program.status() == .exited(0), "\(program.standardError)")
        #expect(try await paths.difference(of: file) == "")
        let requests = try await paths.requests(2)
        #expect(requests.map(\.peer) == ["10.1.0.2", TwoPaths.secondAddress])
        #expect(requests.last?.start ?? 0 > 0)
    }

    @Test("Content whose version nobody tells is fetched anew")
    func withoutValidator() async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        let file = "\(paths.folder)/blob"
        let program = try await get(paths, "\(paths.base)/plain?stall=262144", "-o", file)
        try await paths.wait(for: "\(file).part", bytes: 256 << 10)
        try await paths.cut(.linkDown)
        #expect(try await program.status() == .exited(0), "\(program.standardError)")
        #expect(try await paths.difference(of: file) == "")
        #expect(try await paths.requests(2).map(\.start) == [0, 0])
    }

    @Test("Standard output gets each byte once")
    func stream() async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        let file = "\(paths.folder)/blob"
        let program = try await paths.lab.near.start([
            "/bin/sh", "-c", "unset http_proxy https_proxy; exec \"$0\" get \"$1\" >\"$2\"",
            BuiltProgram.reach,
            "\(paths.base)/blob?stall=262144", file,
        ])
        try await paths.wait(for: file, bytes: 256 << 10)
        try await paths.cut(.carrierLost)
        #expect(try await program.status() == .exited(0), "\(program.standardError)")
        #expect(try await paths.difference(of: file) == "")
        #expect(try await paths.requests(2).last?.start ?? 0 > 0)
    }

    @Test("A PUT that was half sent is sent again", arguments: [false, true])
    func put(isSecure: Bool) async throws {
        let paths = try await TwoPaths(isSecure: isSecure)
        let file = "\(paths.folder)/body"
        try await paths.lab.near.run("dd", "if=/dev/urandom", "of=\(file)", "bs=1M", "count=2", "status=none")
        let arguments = [
            "\(paths.base)/sink?stall=524288", "-X", "PUT", "-d", "@\(file)", "-o", "\(paths.folder)/answer",
        ]
        let program = try await get(
            paths, arguments + (isSecure ? ["--cacert", "\(paths.folder)/server.pem"] : []))
        try await paths.waitForStalls()
        try await paths.cut(.linkDown)
        #expect(try await program.status() == .exited(0), "\(program.standardError)")
        let requests = try await paths.requests(2)
        #expect(requests.map(\.method) == ["PUT", "PUT"])
        #expect(requests.map(\.peer) == ["10.1.0.2", TwoPaths.secondAddress])
        let sum = try await paths.lab.near.run("sha256sum", file).prefix(64)
        let events = try await paths.wait { $0.contains { $0.event == "body" } }
        #expect(events.filter { $0.event == "body" }.map { $0.sha256 ?? "" } == [String(sum)])
    }

    @Test("A POST that was sent whole is not sent again, and the error says what is not known")
    func post() async throws {
        let paths = try await TwoPaths()
        let program = try await get(
            paths, "\(paths.base)/hold", "-X", "POST", "-d", "a=1", "-o", "\(paths.folder)/answer")
        try await paths.wait { $0.contains { $0.event == "body" } }
        try await paths.cut(.carrierLost)
        #expect(try await program.status() == .exited(6))
        let words = program.standardError
        #expect(
            words.contains("the outcome is unknown: the server may have carried out the request"), "\(words)")
        #expect(words.contains("a0: no carrier"), "\(words)")
        #expect(try await paths.requests(1).count == 1)
    }

    @Test("With no path left it waits, says so, and goes on when one is back", arguments: [false, true])
    func waits(onTerminal: Bool) async throws {
        let paths = try await TwoPaths()
        let file = "\(paths.folder)/blob"
        // On a terminal a line overwrites the former one, and ends with a code that erases the rest of it.
        let terminal = """
            import os, pty, sys
            look = lambda end: os.read(end, 4096).replace(b'\\r', b'').replace(b'\\x1b[K', b'\\n')
            sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], look)))
            """
        let command = [BuiltProgram.reach, "get", "\(paths.base)/blob?stall=1048576", "-o", file]
        let program = try await paths.lab.near.start(
            [
                "env", "-u", "http_proxy", "-u", "https_proxy", "TERM=xterm", "LC_ALL=C.UTF-8",
            ]
                + (onTerminal
                    ? ["/usr/bin/python3", "-B", "-c", terminal] + command
                    : ["/bin/sh", "-c", "exec \"$0\" \"$@\" 2>&1"] + command + ["--progress", "plain"]))
        try await paths.wait(for: "\(file).part", bytes: 1 << 20)
        try await paths.lab.near.ip("link set b0 down")
        try await paths.cut(.carrierLost)
        let words = "waiting for network (a0: no carrier), 50 % done"
        let lines = await program.output.wait { $0.contains { $0.contains(words) } }
        #expect(lines.contains { $0.contains(words) }, "\(lines)")
        try await paths.lab.near.ip("link set b0 up")
        try await paths.lab.near.ip("route replace default via 10.2.0.1 dev b0 metric 200")
        #expect(try await program.status() == .exited(0), "\(program.output.elements)")
        #expect(try await paths.difference(of: file) == "")
        #expect(try await paths.requests(2).map(\.start) == [0, 1 << 20])
    }

    @Test("On a network without a default route it follows the way to its server")
    func withoutDefaultRoute() async throws {
        let paths = try await TwoPaths()
        let file = "\(paths.folder)/blob"
        try await paths.lab.near.ip(
            batch: """
                route add 10.9.0.1/32 via 10.1.0.1
                route del default via 10.1.0.1
                route del default via 10.2.0.1
                """)
        let program = try await paths.lab.near.start([
            "/bin/sh", "-c", "unset http_proxy https_proxy; exec \"$0\" get \"$@\" 2>&1", BuiltProgram.reach,
            "\(paths.base)/blob?stall=1048576", "-o", file, "--progress", "plain",
        ])
        try await paths.wait(for: "\(file).part", bytes: 1 << 20)
        try await paths.lab.near.ip("route del 10.9.0.1/32")
        let words = "waiting for network (a0 has carrier and 10.1.0.2/24 but no route to 10.9.0.1), 50 % done"
        let lines = await program.output.wait { $0.contains { $0.contains("waiting for network") } }
        #expect(lines.contains(words), "\(lines)")
        try await paths.lab.near.ip("route add 10.9.0.1/32 via 10.2.0.1")
        #expect(try await program.status() == .exited(0), "\(program.output.elements)")
        #expect(try await paths.difference(of: file) == "")
        #expect(try await paths.requests(2).map(\.peer) == ["10.1.0.2", TwoPaths.secondAddress])
    }

    @Test("What has come stays where the next path dies before it has answered", arguments: ["-o", ">"])
    func diesTwice(_ target: String) async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        let file = "\(paths.folder)/blob"
        let program = try await paths.lab.near.start([
            "/bin/sh", "-c", "unset http_proxy https_proxy; exec \"$0\" get \"$1\" \(target) \"$2\"",
            BuiltProgram.reach, "\(paths.base)/blob?stall=262144", file,
        ])
        try await paths.wait(for: target == "-o" ? "\(file).part" : file, bytes: 256 << 10)
        // The server gets the second connection and cannot answer.
        try await paths.lab.far.ip("route add blackhole \(TwoPaths.secondAddress)")
        try await paths.cut(.linkDown)
        // No event tells that a connection is being made, so ss(8) is polled until it shows one.
        try await paths.lab.near.run(
            "timeout", "60", "/bin/sh", "-c",
            "until ss -Htn state syn-sent | grep -q 10.9.0.1; do sleep 0.02; done")
        try await paths.lab.near.ip("link set b0 down")
        try await paths.lab.far.ip("route del blackhole \(TwoPaths.secondAddress)")
        try await paths.lab.near.ip("link set b0 up")
        try await paths.lab.near.ip("route replace default via 10.2.0.1 dev b0 metric 200")
        #expect(try await program.status() == .exited(0), "\(program.standardError)")
        #expect(try await paths.difference(of: file) == "")
        #expect(try await paths.requests(2).map(\.start) == [0, 256 << 10])
    }

    @Test("A better path leaves a running download alone, down to the packet")
    func betterPath() async throws {
        let paths = try await TwoPaths()
        try await paths.lab.near.ip("route del default via 10.1.0.1")
        let file = "\(paths.folder)/blob"
        let program = try await get(paths, "\(paths.base)/blob?stall=524288", "-o", file)
        try await paths.wait(for: "\(file).part", bytes: 512 << 10)
        let before = try await paths.packets(TwoPaths.first)
        try await paths.lab.near.ip("route add default via 10.1.0.1 dev a0 metric 50")
        // The loop handles it after a while without an event to wait for, so ss(8) is polled until it shows
        // the socket's binding.
        try await paths.lab.near.run(
            "timeout", "60", "/bin/sh", "-c", "until ss -Htn | grep -q 10.2.0.2%b0; do sleep 0.02; done")
        paths.release()
        #expect(try await program.status() == .exited(0), "\(program.standardError)")
        #expect(try await paths.difference(of: file) == "")
        #expect(try await paths.requests(1).map(\.peer) == [TwoPaths.secondAddress])
        // A few packets may have left before the socket was bound.
        #expect(try await paths.packets(TwoPaths.first) - before < 10)
    }
}
