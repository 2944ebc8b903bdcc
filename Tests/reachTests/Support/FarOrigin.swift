// SPDX-License-Identifier: Apache-2.0

import TestSupport

extension NetworkLab {
    /// Starts a server at http://10.0.0.1:8080, the far end of the cable, which accepts every request but
    /// those for /refused.
    ///
    /// Returns when it listens. It prints a line for each request: method, path and length of the content,
    /// the content if that is short, and the header fields X-A, X-Token and Idempotency-Key.
    func startOrigin() async throws -> RunningProgram {
        let server = try await far.start("/usr/bin/python3", "-c", Self.origin)
        guard await server.output.wait(forCount: 1).first == "ready" else {
            throw LabError("the server does not start: \(server.standardError)")
        }
        return server
    }

    private static let origin = """
        import http.server
        class Origin(http.server.BaseHTTPRequestHandler):
            def answer(self):
                content = self.rfile.read(int(self.headers["Content-Length"] or 0))
                fields = [self.headers[name] for name in ("X-A", "X-Token", "Idempotency-Key")]
                print(self.command, self.path, len(content), content.decode() if len(content) < 100 else "long", *fields, flush=True)
                is_file = self.path.startswith("/file")
                self.send_response(422 if self.path == "/refused" else 200 if is_file else 204)
                if is_file: self.send_header("Content-Length", "1000")
                self.end_headers()
                if is_file: self.wfile.write(b"x" * 1000)
            do_GET = do_POST = do_PUT = answer
            def log_message(self, *arguments): pass
        server = http.server.HTTPServer(("10.0.0.1", 8080), Origin)
        print("ready", flush=True)
        server.serve_forever()
        """
}
