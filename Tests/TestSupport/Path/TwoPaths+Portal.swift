// SPDX-License-Identifier: Apache-2.0

/// Routers of the lab that answer http in the place of the server, until the user has signed in.
extension TwoPaths {
    /// Has routers of the client, `pa` and `pb`, answer each request to port 8080 with a redirect to
    /// `http://ROUTER:8090/login`.
    ///
    /// The program writes a line for each request: the client's address and the path.
    package func addPortal(_ routers: [String]) async throws -> RunningProgram {
        let script = """
            import http.server
            class Portal(http.server.BaseHTTPRequestHandler):
                def answer(self):
                    # One write for each line: a request has a thread of its own.
                    print(f'{self.client_address[0]} {self.path}\\n', end='', flush=True)
                    own = self.connection.getsockname()[0]
                    self.send_response(302)
                    self.send_header('Location', f'http://{own}:8090/login')
                    self.send_header('Content-Length', '0')
                    self.end_headers()
                do_GET = do_HEAD = do_POST = do_PUT = answer
                def log_message(self, *_):
                    pass
            server = http.server.ThreadingHTTPServer(('0.0.0.0', 8090), Portal)
            print('ready', flush=True)
            server.serve_forever()
            """
        let portal = try await lab.far.start(["/usr/bin/python3", "-B", "-c", script])
        guard await portal.output.wait(forCount: 1).first == "ready" else {
            throw LabError("the portal does not start: \(portal.standardError)")
        }
        for router in routers {
            try await lab.far.run(
                "nft",
                "add table ip portal-\(router); "
                    + "add chain ip portal-\(router) p { type nat hook prerouting priority -100; }; "
                    + "add rule ip portal-\(router) p iifname \(router) tcp dport 8080 redirect to :8090")
        }
        return portal
    }

    /// Has a router let everything through: the user has signed in.
    package func removePortal(_ router: String) async throws {
        try await lab.far.run("nft", "delete table ip portal-\(router)")
    }
}
