// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import reach

@Suite(
    "Which outbox the commands work on", .timeLimit(.minutes(10)),
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct OutboxLocationTests {
    /// Runs `reach ARGUMENTS` with the service's socket in the configuration, or on the command line if
    /// `isNamed`.
    private func reach(_ lab: ServeLab, isNamed: Bool, _ arguments: String...) async throws -> ProgramResult {
        let variable = isNamed ? "REACH_SOCKET" : "REACH_SERVE_SOCKET"
        let command = ["env", "-u", "REACH_SOCKET", "\(variable)=\(lab.socket)", "LC_ALL=C.UTF-8"]
        return try await lab.lab.near.reactor.run(command + [BuiltProgram.reach] + arguments)
    }

    @Test(
        "FLD-050 what is sent while the service is away lies where the next one delivers from; a named service has no other place",
        arguments: [SIGTERM, SIGKILL])
    func away(signal: Int32) async throws {
        let lab = try await ServeLab()
        let server = try await lab.lab.startOrigin()
        lab.service.terminate(signal: signal)
        _ = try await lab.service.status()
        let named = try await reach(lab, isNamed: true, "send", "http://10.0.0.1:8080/a", "-d", "x")
        #expect(named.status == .exited(74) && named.text.isEmpty, "\(named)")
        #expect(named.errors.contains("no service answers at \(lab.socket)"), "\(named)")
        #expect(try await reach(lab, isNamed: true, "queue").status == .exited(74))
        let sent = try await reach(lab, isNamed: false, "send", "http://10.0.0.1:8080/b", "-d", "y")
        #expect(sent.status == .exited(0) && sent.text == "1\n", "\(sent)")
        #expect(try await reach(lab, isNamed: false, "queue").text.hasPrefix("1 waiting"))
        let again = try await lab.lab.near.start(lab.command)
        #expect(await server.output.comes { $0.contains { $0.hasPrefix("POST /b 1 y") } })
        #expect(!server.output.elements.contains { $0.hasPrefix("POST /a") })
        again.terminate()
        #expect(try await again.status() == .exited(0))
        server.terminate()
        try await lab.remove()
    }

    @Test("FLD-041 send and queue work on the same outbox, that of the service which is asked")
    func sameOutbox() async throws {
        let lab = try await ServeLab()
        #expect(try await reach(lab, isNamed: true, "queue", "pause").status == .exited(0))
        #expect(try await reach(lab, isNamed: true, "send", "http://10.0.0.1:8080/a").text == "1\n")
        for isNamed in [true, false] {
            let list = try await reach(lab, isNamed: isNamed, "queue", "--json")
            #expect(list.text.contains("\"waiting\":1,") && list.text.contains("\"id\":1,"), "\(list)")
            #expect(try await reach(lab, isNamed: isNamed, "queue", "show", "1").status == .exited(0))
        }
        #expect(try await reach(lab, isNamed: true, "queue", "remove", "1").text == "1\n")
        #expect(try await lab.ask("ListOutbox").contains(#""total": 0"#))
        #expect(try await lab.stop() == .exited(0))
    }
}
