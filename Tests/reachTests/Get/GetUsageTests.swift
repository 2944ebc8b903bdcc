// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// What `reach get` and `reach send` refuse before anything is sent.
@Suite("The program: what is refused at once", .timeLimit(.minutes(10)))
struct GetUsageTests {
    @Test(
        "FLD-094 an address of a proxy that libcurl cannot parse is wrong usage",
        arguments: [":::", "http://[::1", "[::1]3128", "[proxy]:3128", "http://2001:db8::1:3128"])
    func proxies(_ proxy: String) async throws {
        let lab = try await GetLab()
        let end = try await lab.get("-x", proxy, "-m", "5", lab.origin.url("/bytes/10"))
        #expect(end.code == 64 && end.errors.contains("cannot be used"), "\(end)")
    }

    @Test("FLD-095 data with HEAD is wrong usage, of get and of send")
    func head() async throws {
        let lab = try await GetLab()
        let get = try await lab.get("-X", "HEAD", "-d", "x", lab.origin.url("/bytes/10"))
        #expect(get.code == 64 && get.errors.contains("HEAD"), "\(get)")
        let send = try await lab.shell(
            "exec \"$1\" send -X HEAD -d x --state-directory d \"$3\"",
            [
                lab.origin.url("/bytes/10")
            ])
        #expect(send.code == 64 && lab.names.isEmpty, "\(send)")
        let bare = try await lab.get("-X", "HEAD", lab.origin.url("/bytes/10"))
        #expect(bare.code == 0 && bare.output.isEmpty, "\(bare)")
    }

    @Test("FLD-097 an archive whose passphrase is missing is told of --pass-file")
    func archive() async throws {
        let lab = try await GetLab()
        let end = try await lab.get(
            "--cacert", lab.origin.pem(.root), "--cert", lab.origin.clientPKCS12,
            lab.origin.url("/bytes/10", at: .strictMTLS, host: "127.0.0.1"))
        #expect(end.code == 7 && end.errors.contains("--pass-file"), "\(end)")
    }

    @Test("FLD-098 send takes nothing where its number cannot be printed")
    func closedOutput() async throws {
        let lab = try await GetLab()
        let send = "\"$1\" send -d x --state-directory d http://127.0.0.1:9/"
        let closed = try await lab.shell(send + " >&-", [])
        #expect(closed.code == 74 && closed.errors.contains("Bad file descriptor"), "\(closed)")
        #expect(lab.names.isEmpty)
        let open = try await lab.shell(send, [])
        #expect(open.code == 0 && open.text == "1\n", "\(open)")
    }
}
