// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Signals while a command waits for servers that say nothing.
@Suite(
    "The program: signals in a silent network", .timeLimit(.minutes(10)),
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct SignalTests {
    /// Behind the router, which drops what is for it.
    private static let silent = "198.51.100.7"

    /// The exit code after a signal; 137 where the program does not notice it.
    private func signalled(_ signal: String, _ arguments: String) async throws -> ProgramResult {
        let lab = try await NetworkLab(.f1)
        let script = """
            unset http_proxy https_proxy all_proxy
            mount -t tmpfs none /mnt
            printf 'nameserver \(Self.silent)\\noptions timeout:5 attempts:2\\n' >/mnt/resolv
            mount --bind /mnt/resolv /etc/resolv.conf
            \(ProgramSignal.script(signal, "\"$0\" \(arguments)"))
            """
        return try await lab.near.reactor.run(
            ["env", "REACH_SOCKET=", "unshare", "-m", "/bin/sh", "-ec", script, BuiltProgram.reach])
    }

    @Test("FLD-087 doctor ends at once while it connects", arguments: ["INT", "TERM"])
    func connecting(_ signal: String) async throws {
        let end = try await signalled(signal, "doctor http://\(Self.silent)/")
        #expect(end.status == .exited(130), "\(end)")
        #expect(!end.text.contains("cause:"), "\(end.text)")
    }

    @Test(
        "FLD-088 a name that is being looked up keeps no command from ending", arguments: ["INT", "TERM"],
        ["0 watch", "130 status --probe http://\(silent)/"])
    func lookingUp(_ signal: String, _ command: String) async throws {
        let words = command.split(separator: " ", maxSplits: 1).map(String.init)
        let end = try await signalled(signal, words[1] + " --host www.example.org")
        #expect(end.status == .exited(Int32(words[0]) ?? -1), "\(end)")
    }
}
