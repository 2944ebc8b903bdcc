// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// `reach doctor` and servers that TLS refuses: the cause is the clock, the certificate, or an interception.
///
/// A certificate that begins in 2048, tested in 2026, looks like a good one to a machine whose clock is
/// behind.
@Suite(
    "The program: doctor and trust",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct DoctorTrustTests {
    /// Answers at 443 with a certificate, and at 80 without; prints the requests.
    private static let server = """
        import http.server, ssl, sys, threading
        chain, key, date, portal, shut = sys.argv[1:]
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'
            def log_message(self, *_): pass
            def date_time_string(self, timestamp=None): return date or super().date_time_string(timestamp)
            def do_GET(self):
                isClear = self.server.server_port == 80
                names = ' '.join(sorted(name.lower() for name in self.headers))
                # One write for each line: a request has a thread of its own.
                print(f"{'clear' if isClear else 'tls'} {self.requestline} {names}\\n", end='', flush=True)
                self.send_response(302 if isClear and portal else 200)
                if isClear and portal: self.send_header('Location', portal)
                self.send_header('Content-Length', '0')
                self.end_headers()
            do_HEAD = do_GET
        clear = http.server.ThreadingHTTPServer(('0.0.0.0', 80), Handler)
        if shut:
            print('ready', flush=True)
            clear.serve_forever()
        secure = http.server.ThreadingHTTPServer(('0.0.0.0', 443), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain, key)
        # Each handshake in its own thread: one that fails is the client's matter.
        secure.socket = context.wrap_socket(secure.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=clear.serve_forever, daemon=True).start()
        print('ready', flush=True)
        secure.serve_forever()
        """

    /// The output of `reach doctor` for a server with this certificate, and the requests to the server.
    ///
    /// - Parameters:
    ///   - date: the server's clock; empty for the right time.
    ///   - portal: the target of redirects without TLS; empty for an answer.
    ///   - isShut: whether nothing listens at 443.
    private func doctor(
        _ certificate: OriginCertificate, date: String = "", portal: String = "", isShut: Bool = false
    ) async throws -> (status: TestSupport.ExitStatus, text: String, requests: [String]) {
        let origin = try await Origin.shared
        let lab = try await NetworkLab(.f1)
        let server = try await lab.far.start([
            "/usr/bin/python3", "-B", "-c", Self.server, origin.chain(certificate), origin.key(certificate),
            date, portal, isShut ? "shut" : "",
        ])
        guard await server.output.wait(forCount: 1).first == "ready" else {
            throw LabError("the server does not start: \(server.standardError)")
        }
        let script = """
            unset http_proxy https_proxy HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY
            mount -t tmpfs none /mnt; echo '10.0.0.1 origin.test' >/mnt/hosts; mount --bind /mnt/hosts /etc/hosts
            LC_ALL=C.UTF-8 exec "$0" doctor "$@"
            """
        let result = try await lab.near.reactor.run([
            "unshare", "-m", "/bin/sh", "-ec", script, BuiltProgram.reach, "--cacert", origin.pem(.root),
            "https://origin.test/x?token=1",
        ])
        server.terminate()
        // With its end all that it has written is read.
        _ = try await server.status()
        return (
            result.status, result.text + result.errors, Array(server.output.elements.dropFirst())
        )
    }

    private func expectPortal(
        _ end: (status: TestSupport.ExitStatus, text: String, requests: [String]),
        _ sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(end.status == .exited(1), sourceLocation: sourceLocation)
        #expect(
            end.text.contains("\ncause: origin.test sends to login.hotel.example: a captive portal\n"),
            "\(end.text)", sourceLocation: sourceLocation)
        #expect(
            end.requests.count == 1 && end.requests[0].hasPrefix("clear GET / "), "\(end.requests)",
            sourceLocation: sourceLocation)
    }

    @Test("A good certificate: nothing is asked twice")
    func good() async throws {
        let end = try await doctor(.leaf)
        #expect(end.status == .exited(0), "\(end.text)")
        #expect(end.text.contains("● clock       agrees with the server's"), "\(end.text)")
        #expect(
            end.requests.count == 1 && end.requests[0].hasPrefix("tls GET /x?token=1 "), "\(end.requests)")
    }

    @Test(
        "The server's clock says that the certificate is valid: this machine's clock is to blame",
        arguments: [
            (OriginCertificate.future, "Mon, 01 Jun 2048 12:00:00 GMT", "behind"),
            (.expired, "Mon, 01 Jun 2020 12:00:00 GMT", "ahead"),
        ])
    func clock(certificate: OriginCertificate, date: String, word: String) async throws {
        let end = try await doctor(certificate, date: date)
        #expect(end.status == .exited(1))
        #expect(end.text.contains("\ncause: this machine's clock is "), "\(end.text)")
        #expect(end.text.contains(" years \(word): by the server's, the certificate is valid"), "\(end.text)")
        #expect(end.text.contains("\ntry:   set it: timedatectl"), "\(end.text)")
        // Only the time is requested, without the path of the URL.
        #expect(end.requests == ["tls HEAD / HTTP/1.1 accept host"], "\(end.requests)")
    }

    @Test(
        "The server's clock shows the same time: the certificate is to blame",
        arguments: [
            (OriginCertificate.future, "is valid from 2048-01-01 to 2049-01-01, and not on 20"),
            (.expired, "is valid from 2020-01-01 to 2021-01-01, and not on 20"),
        ])
    func certificate(certificate: OriginCertificate, words: String) async throws {
        let end = try await doctor(certificate)
        #expect(end.status == .exited(1))
        #expect(end.text.contains("\ncause: the certificate "), "\(end.text)")
        #expect(end.text.contains(words), "\(end.text)")
        #expect(end.text.contains("\ntry:   have the server's certificate renewed"), "\(end.text)")
        #expect(end.text.contains("● clock       agrees with the server's"), "\(end.text)")
    }

    @Test(
        "Another server's certificate: a server that answers without TLS may be the page to sign in",
        arguments: [
            (OriginCertificate.wrongName, "no alternative certificate subject name matches"),
            (.otherLeaf, "neither trusted nor sent along"),
            (.selfSigned, "is self-signed and not trusted"),
        ])
    func others(certificate: OriginCertificate, words: String) async throws {
        let alone = try await doctor(certificate)
        #expect(alone.status == .exited(1))
        #expect(alone.text.contains("\ncause: ") && alone.text.contains(words), "\(alone.text)")
        #expect(alone.text.contains("a page to sign in"), "\(alone.text)")
        #expect(!alone.text.contains("captive portal"), "\(alone.text)")
        #expect(!alone.text.contains(" clock "), "\(alone.text)")
        let portal = try await doctor(certificate, portal: "http://login.hotel.example/?u=1")
        expectPortal(portal)
    }

    @Test("A portal that shuts the port of TLS is the cause, and not the server that refuses")
    func shutPort() async throws {
        let alone = try await doctor(.leaf, isShut: true)
        #expect(alone.status == .exited(1))
        #expect(alone.text.contains("\ncause: 10.0.0.1:443 refuses the connection\n"), "\(alone.text)")
        let portal = try await doctor(.leaf, portal: "http://login.hotel.example/?u=1", isShut: true)
        expectPortal(portal)
    }
}
