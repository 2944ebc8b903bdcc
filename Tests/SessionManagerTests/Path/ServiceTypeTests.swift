// SPDX-License-Identifier: Apache-2.0

import SessionCore
import SessionManager
import TestSupport
import Testing

/// What packets say that they are for.
@Suite(
    "Service types",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct ServiceTypeTests {
    private static let server = """
        import http.server, socket, socketserver, sys
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'
            def log_message(self, *_): pass
            def do_GET(self):
                self.send_response(204)
                self.end_headers()
        class Server(http.server.ThreadingHTTPServer):
            address_family = socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET
            # HTTPServer's own looks for a name.
            server_bind = socketserver.TCPServer.server_bind
        server = Server((sys.argv[1], 0), Handler)
        print(server.server_address[1], flush=True)
        server.serve_forever()
        """

    @Test(
        "each has connections of its own, marked as RFC 8837 says; no type, no mark",
        arguments: ["127.0.0.1", "::1"])
    func marks(_ address: String) async throws {
        let lab = try await NetworkLab(address.contains(":") ? .f6 : .f0)
        let program = try await lab.near.start("/usr/bin/python3", "-c", Self.server, address)
        defer { program.terminate() }
        let port = try #require(await program.output.wait(forCount: 1).first)
        let host = address.contains(":") ? "[\(address)]" : address
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        let manager = URLSessionManager(
            configuration: configuration, securityPolicy: .default, on: lab.near.reactor)
        // Twice, so that each finds its own connection again.
        for _ in 0..<2 {
            for type in NetworkServiceType.allCases {
                var request = try SessionRequest("http://\(host):\(port)/")
                request.options.networkServiceType = type
                let task = try manager.dataTask(with: request)
                task.resume()
                #expect(await task.outcome().error == nil)
            }
        }
        let sockets = try await lab.near.run(
            "ss", "-tnH", "--tos", "state", "established", "dport", "=", ":\(port)")
        let name = address.contains(":") ? "tclass:" : "tos:"
        let marks = sockets.split(separator: "\n").map { line in
            line.split(separator: " ").first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
        }
        #expect(marks.map { $0 ?? "none" }.sorted() == ["0", "0x4", "0x48", "0xb8"], "\(sockets)")
    }
}
