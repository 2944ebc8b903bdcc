// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import TestSupport
import Testing

/// A namespace and the programs in it.
@Suite(.enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct NetworkNamespaceTests {
    @Test func twoNamespaces_AreApart() async throws {
        let (first, second) = (try await NetworkNamespace(), try await NetworkNamespace())
        try await first.ip("link add v7 type veth peer name p7")
        #expect(try await first.ip("-o link").contains("v7"))
        #expect(try await !second.ip("-o link").contains("v7"))
        #expect(first.path != second.path)
    }

    @Test func path_NamesTheNamespace_ForOtherPrograms() async throws {
        let (first, second) = (try await NetworkNamespace(), try await NetworkNamespace())
        try await first.ip("link add v7 type veth peer name p7 netns \(second.path)")
        #expect(try await second.ip("-o link show p7").contains("p7"))
    }

    @Test func sysctl_ReachesItsOwnNamespaceOnly() async throws {
        let (first, second) = (try await NetworkNamespace(), try await NetworkNamespace())
        try await first.sysctl("net.ipv4.conf.lo.ignore_routes_with_linkdown", "1")
        #expect(try await first.sysctl("net.ipv4.conf.lo.ignore_routes_with_linkdown") == "1")
        #expect(try await second.sysctl("net/ipv4/conf/lo/ignore_routes_with_linkdown") == "0")
        await #expect(throws: (any Error).self) { try await first.sysctl("net.ipv4.no_such_setting", "1") }
    }

    @Test func run_GivesTheOutput() async throws {
        let namespace = try await NetworkNamespace()
        #expect(try await namespace.run("cat", input: "a\nb") == "a\nb")
        let big = String(repeating: "0123456789abcde\n", count: 20000)
        #expect(try await namespace.run("cat", input: big) == big)
    }

    @Test func run_ThrowsWhatTheProgramSaid() async throws {
        let namespace = try await NetworkNamespace()
        let error = await #expect(throws: LabError.self) { try await namespace.ip("link show nothing7") }
        #expect(error?.description.contains("nothing7") == true)
        await #expect(throws: LabError.self) { try await namespace.run("no-such-program-7") }
        await #expect(throws: LabError.self) {
            try await namespace.ip(batch: "link set lo up\nlink set no7 up")
        }
    }

    @Test func run_IsKilled_WithItsTask() async throws {
        let namespace = try await NetworkNamespace()
        let task = Task { try await namespace.run("sleep", "3600") }
        task.cancel()
        await #expect(throws: LabError.self) { try await task.value }
    }

    @Test func children_TakeSignals() async throws {
        let namespace = try await NetworkNamespace()
        let program = try await namespace.start("sh", "-c", "echo ready; exec sleep 3600")
        #expect(await program.output.wait(forCount: 1) == ["ready"])
        program.terminate()
        #expect(try await program.status() == .killed(signal: SIGTERM))
    }

    @Test func program_GivesItsLines_AndItsEnd() async throws {
        let namespace = try await NetworkNamespace()
        let program = try await namespace.start("sh", "-c", "echo one; echo two >&2; printf three; exit 7")
        var lines: [String] = []
        for await line in program.lines { lines.append(line) }
        #expect(lines == ["one", "three"])
        #expect(program.output.elements == lines)
        #expect(program.standardError == "two\n")
        #expect(try await program.status() == .exited(7))
    }

    @Test func program_IsKilled_WhenItIsForgotten() async throws {
        let namespace = try await NetworkNamespace()
        var program: RunningProgram? = try await namespace.start("sleep", "3600")
        let end = try #require(program?.end)
        program = nil
        #expect(await end.wait(forCount: 1) == [.killed(signal: SIGKILL)])
    }

    @Test func program_IsKilledByTheKernel_WhenTheTestProcessDies() async throws {
        let fifo = "\(TemporaryFolder.path)/lab.\(getpid()).alive"
        #expect(mkfifo(fifo, 0o600) == 0)
        defer { unlink(fifo) }
        let reading = try OwnedDescriptor("fifo", open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC))
        await #expect(processExitsWith: .signal(SIGKILL)) {
            // Swift 6.2 passes no values to this process, whose parent made the pipe.
            let fifo = "\(TemporaryFolder.path)/lab.\(getppid()).alive"
            let namespace = try await NetworkNamespace()
            let program = try await namespace.start("sh", "-c", "exec 9>\(fifo); echo ready; exec sleep 3600")
            await program.output.wait(forCount: 1)
            kill(getpid(), SIGKILL)
        }
        // The reading end hangs up with the last writer.
        let reactor = try Reactor(name: "test")
        let log = EventLog<Readiness>()
        let number = reading.number
        try await reactor.result {
            try reactor.watch(number, for: .readable) { readiness in
                reactor.unwatch(number)
                log.append(readiness)
            }
        }
        #expect(await log.wait(forCount: 1) == [.hangUp])
    }

    @Test func nothing_IsLeft() async {
        await #expect(processExitsWith: .success) {
            try await useLab()
            let before = ProcessInventory()
            for _ in 0..<3 { try await useLab() }
            #expect(await ProcessInventory.leftovers(since: before, threadsNamed: "netns") == [])
            // No child is left, not even a dead one.
            #expect(waitpid(-1, nil, WNOHANG) == -1)
        }
    }
}

/// A lab with a running program and a tunnel with a reader, all released without being stopped.
private func useLab() async throws {
    let lab = try await NetworkLab(.f1)
    let program = try await lab.near.start("sh", "-c", "echo ready; exec sleep 3600")
    await program.output.wait(forCount: 1)
    if TunDevice.unavailableReason == nil {
        let tunnel = try await TunDevice(in: lab.near)
        try await tunnel.attach()
    }
    try await lab.near.ip("-o link show v0") { $0.contains("state UP") }
}
