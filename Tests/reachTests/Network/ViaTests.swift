// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// `--via`: the path of a network that the kernel does not prefer, on a real kernel.
@Suite(
    "A network that is asked for", .timeLimit(.minutes(10)),
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct ViaTests {
    private struct Report: Decodable {
        let status: String
        let interface: String?
        let gateway: String?
        let reason: String
        let via: String?
    }

    private func command(_ arguments: String) -> [String] {
        [
            "env", "-u", "http_proxy", "-u", "https_proxy", "-u", "all_proxy", "LC_ALL=C.UTF-8",
            BuiltProgram.reach,
        ] + arguments.split(separator: " ").map(String.init)
    }

    @Test("UPL-147 status, watch and wait tell the path of what is asked for, and what it lacks")
    func reported() async throws {
        let lab = try await NetworkLab(.f2)
        func run(_ arguments: String) async throws -> (
            code: TestSupport.ExitStatus, text: String, errors: String
        ) {
            let end = try await lab.near.reactor.run(command(arguments))
            return (end.status, end.text, end.errors)
        }
        func report(_ text: String) throws -> Report {
            try JSONDecoder().decode(Report.self, from: Data(text.utf8))
        }
        let json = try await run("status --via b0 --json")
        #expect(json.code == .exited(0))
        let found = try report(json.text)
        #expect(found.status == "wired" && found.interface == "b0" && found.gateway == "10.2.0.1")
        #expect(found.via == "b0")
        let plain = try await run("status --via wired").text
        #expect(plain.hasPrefix("● via wired: wired  a0 (virtual) 10.1.0.2 → 10.1.0.1\n"), "\(plain)")
        #expect(try await !run("status --json").text.contains("via\""))
        let none = try await run("status --via cellular")
        #expect(none.code == .exited(1))
        #expect(none.text.contains("via cellular: unreachable  no link of the medium cellular"), "\(none)")
        #expect(try await run("status --via b0 --explain").text.contains("path through b0 alone"))
        // Combinations that make no sense.
        for arguments in [
            "status --via b0 --probe http://10.9.0.1/", "wait --via b0 -i a0", "status --via a/b",
        ] {
            let refused = try await run(arguments)
            #expect(refused.code == .exited(64), "\(refused)")
        }
        let watch = try await lab.near.start(command("watch --via b0 --json"))
        #expect(await watch.output.comes { $0.contains { $0.contains(#""event":"initial""#) } })
        try await lab.far.ip("link set pb down")
        #expect(
            await watch.output.comes { lines in
                lines.contains { $0.contains(#""status":"unreachable""#) && $0.contains("b0: no carrier") }
            })
        watch.terminate()
        _ = try await watch.status()
        let unmet = try await run("wait --via b0 --timeout 0.2")
        #expect(unmet.code == .exited(2))
        #expect(
            unmet.errors.hasPrefix("reach: via b0 not reachable after 0.2 s: b0: no carrier\n"), "\(unmet)")
        let waiting = try await lab.near.start(command("wait --via b0 --timeout 60"))
        try await lab.far.ip("link set pb up")
        #expect(try await waiting.status() == .exited(0), "\(waiting.standardError)")
    }

    @Test("UPL-148 get goes over what is asked for, says at once that it has no path, and waits for it later")
    func get() async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        let file = "\(paths.folder)/blob"
        let near = paths.lab.near
        let program = try await near.start(command("get --via b0 \(paths.base)/blob?stall=262144 -o \(file)"))
        try await paths.wait(for: "\(file).part", bytes: 256 << 10)
        try await paths.lab.far.ip("link set pb down")
        try await near.ip("-o link show dev b0") { $0.contains("NO-CARRIER") }
        let refused = try await near.reactor.run(command("get --via b0 \(paths.base)/quick"))
        #expect(refused.status == .exited(6), "\(refused.errors)")
        #expect(refused.errors.contains("b0: no carrier"), "\(refused.errors)")
        let missing = try await near.reactor.run(command("get --via cellular --json \(paths.base)/quick"))
        #expect(missing.status == .exited(6), "\(missing.errors)")
        #expect((missing.errors + missing.text).contains("no link of the medium cellular"))
        try await paths.lab.far.ip("link set pb up")
        #expect(try await program.status() == .exited(0), "\(program.standardError)")
        #expect(try await paths.difference(of: file) == "")
        #expect(try await paths.requests(2).map(\.peer) == [TwoPaths.secondAddress, TwoPaths.secondAddress])
    }

    @Test("UPL-461 get with --network waits for a network, and leaves a dead line for one that meets it")
    func condition() async throws {
        let paths = try await TwoPaths(size: 1 << 20)
        let near = paths.lab.near
        try await near.ip(batch: "route del default via 10.1.0.1\nroute del default via 10.2.0.1")
        let refused = try await near.reactor.run(command("get \(paths.base)/quick"))
        #expect(refused.status == .exited(6), "\(refused.errors)")
        let waiting = try await near.start(
            command(
                "get --progress plain --network wiredOnly \(paths.base)/quick -o \(paths.folder)/quick"))
        let piped = try await near.start(
            command("get --progress plain --network wiredOnly \(paths.base)/quick"))
        for program in [waiting, piped] {
            for _ in 0..<1_000 where !program.standardError.contains("waiting for network") {
                try await near.run("true")
            }
            #expect(program.standardError.contains("waiting for network"), "\(program.standardError)")
        }
        try await near.ip("route add default via 10.2.0.1 dev b0 metric 200")
        for program in [waiting, piped] {
            #expect(try await program.status() == .exited(0), "\(program.standardError)")
        }
        try await near.ip("route add default via 10.1.0.1 dev a0 metric 100")
        let file = "\(paths.folder)/blob"
        let program = try await near.start(
            command("get --network wiredOnly \(paths.base)/blob?stall=262144 -o \(file)"))
        try await paths.wait(for: "\(file).part", bytes: 256 << 10)
        try await paths.killLine()
        paths.release()
        #expect(try await program.status() == .exited(0), "\(program.standardError)")
        #expect(try await paths.difference(of: file) == "")
        let peers = try await paths.requests(4).map(\.peer)
        let second = TwoPaths.secondAddress
        #expect(peers == [second, second, "10.1.0.2", second])
    }
}
