// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// `reach wait` with several interfaces on a real kernel.
@Suite(
    "Waiting in a namespace", .timeLimit(.minutes(10)),
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct WaitNamespaceTests {
    private struct Result {
        let status: TestSupport.ExitStatus
        let output: [String]
        let errors: String
    }

    private func start(_ lab: NetworkLab, _ arguments: String) async throws -> RunningProgram {
        let words = arguments.split(separator: " ").map(String.init)
        return try await lab.near.start(
            ["env", "-u", "http_proxy", "LC_ALL=C.UTF-8", BuiltProgram.reach, "wait"] + words)
    }

    private func end(_ program: RunningProgram) async throws -> Result {
        let status = try await program.status()
        return Result(status: status, output: program.output.elements, errors: program.standardError)
    }

    private func wait(_ lab: NetworkLab, _ arguments: String) async throws -> Result {
        try await end(start(lab, arguments))
    }

    /// Returns when a program in the client's namespace is told of changes by the kernel.
    private func listens(_ lab: NetworkLab) async throws {
        for _ in 0..<1_000 {
            // proc_net(5): address, protocol, port, groups.
            let sockets = try await lab.near.run("cat", "/proc/net/netlink").split(separator: "\n")
                .dropFirst()
            let words = sockets.map { $0.split(separator: " ") }
            if words.contains(where: { $0.count > 3 && $0[1] == "0" && $0[3].contains { $0 != "0" } }) {
                return
            }
        }
        throw LabError("nothing listens to the kernel")
    }

    @Test("UPL-210 any one of two cables is enough, also where the kernel prefers the one that is pulled")
    func any() async throws {
        let lab = try await NetworkLab(.f2)
        try await lab.far.ip("link set pa down")
        try await lab.near.ip("-o link show dev a0") { $0.contains("NO-CARRIER") }
        let any = try await wait(lab, "-i a0 --interface b0 --any --timeout 60")
        #expect(any.status == .exited(0) && any.errors.isEmpty, "\(any)")
        #expect(any.output == ["default route via 10.2.0.1 on b0 (metric 200)"], "\(any)")
        let ignoring = try await wait(lab, "--ignore a* -t 60")
        #expect(ignoring.status == .exited(0) && ignoring.output == any.output, "\(ignoring)")
    }

    @Test("UPL-211 with --all it waits until the second cable is there too")
    func all() async throws {
        let lab = try await NetworkLab(.f2)
        try await lab.far.ip("link set pb down")
        try await lab.near.ip("-o link show dev b0") { $0.contains("NO-CARRIER") }
        let unmet = try await wait(lab, "-i a0 -i b0 --all --timeout 0.3")
        #expect(unmet.status == .exited(2))
        #expect(
            unmet.errors == """
                reach: not reachable through a0 and b0 after 0.3 s: wired through a0
                  a0  online: in use, 10.1.0.2/24
                  b0  no carrier

                """, "\(unmet)")
        let running = try await start(lab, "-i a0 -i b0 --all --timeout 60")
        try await listens(lab)
        try await lab.far.ip("link set pb up")
        try await lab.near.ip("route replace default via 10.2.0.1 dev b0 metric 200")
        let met = try await end(running)
        #expect(met.status == .exited(0), "\(met)")
        #expect(
            met.output == [
                "● wired  a0 (virtual) 10.1.0.2 → 10.1.0.1", "default route via 10.2.0.1 on b0 (metric 200)",
            ], "\(met)")
    }

    @Test("UPL-212 without a cable it gives up with a code and a sentence of its own; with one it waits on")
    func noCarrier() async throws {
        let lab = try await NetworkLab(.f1)
        try await lab.far.ip("link set p0 down")
        try await lab.near.ip("-o link show dev v0") { $0.contains("NO-CARRIER") }
        // A bridge without ports has a carrier, and leads nowhere.
        try await lab.near.ip("link add br9 type bridge")
        try await lab.near.ip("link set br9 up")
        let given = try await wait(lab, "--no-carrier-timeout 0.2 --timeout 60 --ignore br*")
        #expect(given.status == .exited(9))
        #expect(
            given.errors == """
                reach: not reachable (br* ignored): gave up after 0.2 s without a carrier on any link
                  v0  no carrier

                """, "\(given)")
        let bare = try await wait(lab, "--no-carrier-timeout 0.2 --timeout 60 -q")
        #expect(bare.status == .exited(9) && bare.errors.isEmpty, "\(bare)")
        let absent = try await wait(lab, "--no-carrier-timeout 0.2 --timeout 60 -i wwan9")
        #expect(absent.status == .exited(9))
        #expect(absent.errors.hasSuffix("\n  wwan9: there is no such interface\n"), "\(absent)")
        let running = try await start(lab, "--no-carrier-timeout 30 --timeout 60")
        try await lab.far.ip("link set p0 up")
        try await lab.near.ip("route replace default via 10.0.0.1")
        #expect(try await end(running).status == .exited(0))
        try await lab.near.ip("route del default")
        let carrier = try await wait(lab, "--no-carrier-timeout 0.2 --timeout 0.8")
        #expect(carrier.status == .exited(2), "\(carrier)")
    }

    @Test("UPL-213 for the internet it waits until the server has answered over an interface that counts")
    func internet() async throws {
        let paths = try await TwoPaths()
        let probe = "--for internet --timeout 60 --probe \(paths.base)/quick"
        let met = try await wait(paths.lab, probe)
        #expect(met.status == .exited(0), "\(met)")
        #expect(met.output.first?.hasPrefix("● wired  a0") == true, "\(met)")
        let running = try await start(paths.lab, probe + " -i b0")
        _ = try await paths.requests(2)
        try await paths.lab.near.ip("route del default via 10.1.0.1")
        let second = try await end(running)
        #expect(second.status == .exited(0), "\(second)")
        #expect(try await paths.requests(3).last?.peer == TwoPaths.secondAddress)
        let wrong = try await wait(
            paths.lab, "--for internet --probe \(paths.base)/quick --probe-body no --timeout 4 --interface b0"
        )
        #expect(wrong.status == .exited(2), "\(wrong)")
        #expect(
            wrong.errors.hasPrefix(
                "reach: not connected to the internet through b0 after 4 s: b0 has a path, internet portal: "),
            "\(wrong)")
    }
}
