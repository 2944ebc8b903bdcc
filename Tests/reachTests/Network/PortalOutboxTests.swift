// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestSupport
import Testing

/// The outbox of a service whose preferred line leads to a page to sign in, beside another uplink.
@Suite(
    "The outbox and portals on one uplink", .timeLimit(.minutes(10)),
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct PortalOutboxTests {
    /// A server that has another answer, such as a portal's, for all that comes over the first link, and
    /// prints what it gets.
    private static let server = """
        import http.server, sys
        class Server(http.server.BaseHTTPRequestHandler):
            def answer(self):
                self.rfile.read(int(self.headers["Content-Length"] or 0))
                portal = self.client_address[0].startswith("10.1.")
                # One write for each line: a request has a thread of its own.
                print(f"{'portal' if portal else 'origin'} {self.command} {self.path}\\n", end="", flush=True)
                self.send_response(int(sys.argv[1]) if portal else 204)
                if portal: self.send_header("Location", "http://login.example/")
                self.end_headers()
            do_GET = do_POST = answer
            def log_message(self, *arguments): pass
        server = http.server.ThreadingHTTPServer(("0.0.0.0", 8080), Server)
        print("ready", flush=True)
        server.serve_forever()
        """

    /// A service whose probe finds the internet behind the second uplink alone.
    private static func lab(_ status: Int, _ state: String) async throws -> (ServeLab, RunningProgram) {
        let folder = try ScratchFolder("reach-portal-outbox")
        let file = folder("reach.toml")
        try "[log]\nlevel = \"info\"\n".write(toFile: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        let lab = try await ServeLab(.f2, options: ["--config", file])
        try await lab.lab.far.ip("addr add 198.51.100.1/32 dev lo")
        let command = ["/usr/bin/python3", "-B", "-c", Self.server, "\(status)"]
        let server = try await lab.lab.far.start(command)
        #expect(await server.output.comes { $0.first == "ready" })
        try """
        [probe]
        url = "http://198.51.100.1:8080/ok"
        status = 204

        """.write(toFile: file, atomically: true, encoding: .utf8)
        lab.service.terminate(signal: SIGHUP)
        var report = ""
        let states = ["\"internet\": \"\(state)\"", #""internet": "full""#]
        for _ in 0..<2_000 where !states.allSatisfy(report.contains) {
            report = try await lab.ask("GetStatus")
        }
        #expect(states.allSatisfy(report.contains), "\(report)")
        return (lab, server)
    }

    /// UPL-435: the other uplink has the internet that a request asks for.
    private static func askForInternet(_ lab: ServeLab, _ server: RunningProgram) async throws {
        _ = try await lab.ask(
            "Enqueue",
            #"{"url":"http://198.51.100.1:8080/asked","body":"hello","#
                + #""network":"internet","lane":"asked"}"#)
        #expect(
            await server.output.comes { $0.contains { $0.hasSuffix("POST /asked") } },
            "\(lab.service.standardError)")
        #expect(server.output.elements.contains("origin POST /asked"), "\(server.output.elements)")
    }

    @Test("UPL-366 The service's probe leads its deliveries away from a line without internet")
    func lineWithoutInternet() async throws {
        // A failure of the probe's server: what goes without TLS is not held.
        let (lab, server) = try await Self.lab(500, "limited")
        _ = try await lab.ask("Enqueue", #"{"url":"http://198.51.100.1:8080/far","body":"hello"}"#)
        #expect(
            await server.output.comes { $0.contains { $0.hasSuffix("POST /far") } },
            "\(lab.service.standardError)")
        #expect(server.output.elements.contains("origin POST /far"), "\(server.output.elements)")
        try await Self.askForInternet(lab, server)
        server.terminate()
        #expect(try await lab.stop() == .exited(0))
    }

    @Test(
        "UPL-290 What goes without TLS leaves over the uplink with internet, and nothing of it to the portal")
    func otherUplink() async throws {
        let (lab, server) = try await Self.lab(302, "portal")
        _ = try await lab.ask("Enqueue", #"{"url":"http://198.51.100.1:8080/far","body":"hello"}"#)
        // A server in a private network may be behind the first uplink alone.
        _ = try await lab.ask("Enqueue", #"{"url":"http://10.1.0.1:8080/near","body":"hello"}"#)
        #expect(
            await server.output.comes { $0.contains("origin POST /far") },
            "\(lab.service.standardError)")
        try await Self.askForInternet(lab, server)
        let list = try await lab.ask("ListOutbox")
        #expect(list.contains("/near") && list.contains("only b0 is used"), "\(list)")
        #expect(!server.output.elements.contains { $0.contains("portal POST") || $0.contains("/near") })
        server.terminate()
        #expect(try await lab.stop() == .exited(0))
    }
}
