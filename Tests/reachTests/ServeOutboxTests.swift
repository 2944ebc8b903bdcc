// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import reach

/// The outbox and the history of a running service, as a stock client sees them.
@Suite(
    "reach serve: outbox and history", .timeLimit(.minutes(10)),
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct ServeOutboxTests {
    /// One call, printed as JSON or as the name of its error.
    private static let call = """
        import json, socket, sys
        client = socket.socket(socket.AF_UNIX)
        client.connect(sys.argv[1])
        call = {"method": "io.reach.Reachability." + sys.argv[2], "parameters": json.loads(sys.argv[3])}
        client.sendall(json.dumps(call).encode() + b"\\0")
        reply = b""
        while not reply.endswith(b"\\0"):
            reply += client.recv(65536)
        reply = json.loads(reply[:-1])
        print(reply.get("error") or json.dumps(reply["parameters"]))
        """

    private func ask(_ lab: ServeLab, _ method: String, _ parameters: String = "{}") async throws -> String {
        try await lab.lab.near.run(
            ["/usr/bin/python3", "-c", Self.call, lab.socket, method, parameters])
    }

    @Test(
        "a request waits on the disk while there is no network, survives kill -9, and is sent when the cable is in"
    )
    func delivery() async throws {
        let lab = try await ServeLab()
        let origin = """
            import http.server
            class Origin(http.server.BaseHTTPRequestHandler):
                def do_POST(self):
                    body = self.rfile.read(int(self.headers["Content-Length"]))
                    print(self.path, body.decode(), "key", self.headers["Idempotency-Key"], flush=True)
                    self.send_response(204)
                    self.end_headers()
                def log_message(self, *arguments): pass
            server = http.server.HTTPServer(("10.0.0.1", 8080), Origin)
            print("ready", flush=True)
            server.serve_forever()
            """
        let server = try await lab.lab.far.start("/usr/bin/python3", "-c", origin)
        await server.output.wait(forCount: 1)
        try await lab.lab.far.ip("link set p0 down")
        #expect(await lab.notices.comes { $0.contains { $0.hasPrefix("STATUS=unreachable") } })
        let receipt = try await ask(
            lab, "Enqueue", #"{"url":"http://10.0.0.1:8080/a","body":"hello","idempotencyKey":"k1"}"#)
        #expect(receipt.contains(#""idempotencyKey": "k1""#), "\(receipt)")
        #expect(try await ask(lab, "ListOutbox").contains(#""state": "waiting""#))
        #expect(try await ask(lab, "RetryOutbox", #"{"id":"77"}"#) == "io.reach.Reachability.NoSuchEntry\n")

        lab.service.terminate(signal: SIGKILL)
        #expect(try await lab.service.status() == .killed(signal: SIGKILL))
        let again = try await lab.lab.near.start(lab.command)
        #expect(await lab.notices.comes { $0.count { $0.hasPrefix("READY=1") } == 2 })
        #expect(try await ask(lab, "ListOutbox").contains(#""url": "http://10.0.0.1:8080/a""#))

        try await lab.lab.far.ip("link set p0 up")
        #expect(await server.output.comes { $0.contains("/a hello key k1") }, "\(again.standardError)")
        // Confirmed, it is gone.
        var list = try await ask(lab, "ListOutbox")
        for _ in 0..<100 where !list.contains(#""total": 0"#) { list = try await ask(lab, "ListOutbox") }
        #expect(list.contains(#""total": 0"#), "\(list)")
        again.terminate()
        #expect(try await again.status() == .exited(0))
        server.terminate()
        try await lab.remove()
    }

    @Test("a request that is removed is not sent; one that cannot be sent is refused")
    func removal() async throws {
        let lab = try await ServeLab(.f0)
        let receipt = try await ask(lab, "Enqueue", #"{"url":"http://192.0.2.1/","body":"x"}"#)
        let id = try #require(receipt.split(separator: "\"").dropFirst(3).first)
        #expect(try await ask(lab, "ListOutbox").contains(#""total": 1"#))
        #expect(try await ask(lab, "RemoveOutbox", #"{"id":"\#(id)"}"#) == "{}\n")
        #expect(try await ask(lab, "ListOutbox").contains(#""total": 0"#))
        #expect(
            try await ask(lab, "Enqueue", #"{"url":"nonsense"}"#) == "org.varlink.service.InvalidParameter\n")
        #expect(try await lab.stop() == .exited(0))
    }

    @Test("the history has the periods, the last of them open")
    func history() async throws {
        let lab = try await ServeLab()
        try await lab.lab.far.ip("link set p0 down")
        #expect(await lab.notices.comes { $0.contains { $0.hasPrefix("STATUS=unreachable") } })
        // What has been written a moment ago: asked again until the disk has it.
        var answer = ""
        for _ in 0..<200 where !answer.contains("unreachable") { answer = try await ask(lab, "GetHistory") }
        #expect(
            answer.contains(#""status": "wired""#) && answer.contains(#""status": "unreachable""#),
            "\(answer)")
        #expect(answer.contains(#""until": null"#))
        #expect(try await lab.stop() == .exited(0))
    }
}
