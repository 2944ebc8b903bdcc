// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

/// A server that takes a request over a kept connection, answers nothing, and is gone.
@Suite(
    "A server that is gone",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct VanishedServerTests {
    private static let server = """
        import re, socket, struct
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        wire, _ = listener.accept()
        def take():
            data = b""
            while b"\\r\\n\\r\\n" not in data: data += wire.recv(65536)
            head, _, rest = data.lower().partition(b"\\r\\n\\r\\n")
            length = int((re.search(rb"content-length: *([0-9]+)", head) or [0, 0])[1])
            while not rest.endswith(b"0\\r\\n\\r\\n") if b"chunked" in head else len(rest) < length: rest += wire.recv(65536)
        take()
        wire.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n")
        take()
        listener.close()
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        wire.close()
        """

    enum Body: CaseIterable { case none, data, madeOnce }

    @Test(
        "what it may have carried out is not said not to have been sent", arguments: Body.allCases)
    func outcome(_ body: Body) async throws {
        let lab = try await NetworkLab(.f0)
        let program = try await lab.near.start("/usr/bin/python3", "-c", Self.server)
        defer { program.terminate() }
        let port = try #require(await program.output.wait(forCount: 1).first)
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        let manager = URLSessionManager(
            configuration: configuration, securityPolicy: .default, on: lab.near.reactor)
        func run(_ method: HTTPRequest.Method, _ body: RequestBody?) async throws -> TaskOutcome {
            let task = try manager.dataTask(
                with: SessionRequest("http://127.0.0.1:\(port)/", method: method, body: body))
            task.resume()
            return await task.outcome()
        }
        #expect(try await run(.get, nil).error == nil)
        let content: RequestBody? =
            switch body {
            case .none: nil
            case .data: .data(Data("body".utf8))
            case .madeOnce:
                .stream(
                    StreamedBody(
                        AsyncStream { continuation in
                            continuation.yield(Data("body".utf8))
                            continuation.finish()
                        }))
            }
        let error = try await run(.post, content).error
        #expect(error?.code == .networkConnectionLost)
        #expect(error?.message.contains("outcome is unknown") == true, "\(String(describing: error))")
    }
}
