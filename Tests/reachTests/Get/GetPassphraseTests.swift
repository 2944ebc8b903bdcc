// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import reach

/// `reach get` with a client's key that a passphrase protects.
@Suite("The program: get and passphrases", .timeLimit(.minutes(10)))
struct GetPassphraseTests {
    private func arguments(_ lab: GetLab, _ more: [String]) -> [String] {
        let origin = lab.origin
        return [
            "--max-time", "20", "--cacert", origin.pem(.root), "--cert", origin.pem(.client), "--key",
            origin.encryptedClientKey,
        ] + more + [origin.url("/bytes/1000", at: .strictMTLS, host: "127.0.0.1")]
    }

    @Test("FLD-027 without its passphrase it names the option and does not ask, on a terminal either")
    func asksForNothing() async throws {
        let lab = try await GetLab()
        let plain = try await lab.shell("exec \"$@\"", arguments(lab, []))
        #expect(plain.code == 64 && plain.errors.contains("--pass-file"), "\(plain.errors)")
        // OpenSSL would ask for another passphrase than the wrong one on /dev/tty.
        let terminal = try await lab.terminal(arguments(lab, ["--pass", "wrong"]))
        #expect(terminal.code == 7, "\(terminal)")
        #expect(!terminal.text.contains("Enter PEM pass phrase"), "\(terminal.text)")
    }

    @Test("FLD-027 a passphrase is taken from a file, without its line break, or from the command line")
    func passphrases() async throws {
        let lab = try await GetLab()
        try lab.write(Array((Origin.password + "\n").utf8), "pass")
        let file = try await lab.shell("exec \"$@\"", arguments(lab, ["--pass-file", "pass"]))
        #expect(file.code == 0 && file.output.count == 1000, "\(file.errors)")
        let word = try await lab.shell("exec \"$@\"", arguments(lab, ["--pass", Origin.password]))
        #expect(word.code == 0 && word.output.count == 1000, "\(word.errors)")
        let wrong = try await lab.shell("exec \"$@\"", arguments(lab, ["--pass", "wrong"]))
        #expect(wrong.code == 7 && wrong.errors.contains("its passphrase"), "\(wrong.errors)")
        #expect(!wrong.errors.contains("wrong\""), "\(wrong.errors)")
        let archive = try await lab.shell(
            "exec \"$@\"",
            [
                "--cacert", lab.origin.pem(.root), "--cert", lab.origin.clientPKCS12, "--pass-file", "pass",
                lab.origin.url("/bytes/1000", at: .strictMTLS, host: "127.0.0.1"),
            ])
        #expect(archive.code == 0 && archive.output.count == 1000, "\(archive.errors)")
    }

    @Test("FLD-027 a file without a passphrase, a second one, and one without a certificate are wrong usage")
    func wrongUsage() async throws {
        let lab = try await GetLab()
        try lab.write([0x0A], "empty")
        try lab.write(Array(Origin.password.utf8), "pass")
        for words in [
            ["--pass-file", "empty"], ["--pass-file", "/nonexistent"],
            ["--pass", Origin.password, "--pass-file", "pass"],
        ] {
            let end = try await lab.shell("exec \"$@\"", arguments(lab, words))
            #expect(end.code == 64, "\(words): \(end.errors)")
        }
        let alone = try await lab.get("--pass", "a", lab.origin.url("/bytes/1000"))
        #expect(alone.code == 64 && alone.errors.contains("--cert"), "\(alone.errors)")
    }
}
