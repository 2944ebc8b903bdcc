// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager
import TestSupport
import Testing

/// How often a request is sent with credentials that libcurl puts into it.
@Suite(
    "Rounds of Digest",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"))
struct DigestRoundTests {
    /// Refuses all but the scheme that it is told, and Digest without a nonce of its own.
    ///
    /// It prints each request: its method, the scheme of its credentials, the length of its body.
    private static let server = """
        import socket, sys, threading
        accepted, status, challenges = sys.argv[1], sys.argv[2], sys.argv[3:]
        field = "Proxy-Authenticate" if status == "407" else "WWW-Authenticate"
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        print(port, flush=True)
        count = 0
        def serve(wire):
            global count
            lines = wire.makefile("rb")
            while line := lines.readline():
                fields = {}
                while one := lines.readline().strip():
                    name, _, value = one.decode().partition(":")
                    fields[name.lower()] = value.strip()
                body = lines.read(int(fields.get("content-length", "0")))
                given = fields.get("proxy-authorization") or fields.get("authorization") or "-"
                scheme = given.split()[0]
                print(line.split()[0].decode(), scheme, len(body), flush=True)
                count += 1
                if scheme == accepted and (scheme != "Digest" or f'nonce="{port}-' in given):
                    head = "HTTP/1.1 200 OK\\r\\n"
                else:
                    head = f"HTTP/1.1 {status} No\\r\\n" + "".join(
                        f"{field}: {one.replace('NONCE', f'{port}-{count}')}\\r\\n" for one in challenges)
                wire.sendall((head + "Content-Length: 2\\r\\n\\r\\nno").encode())
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """

    private struct Server {
        let program: RunningProgram
        let port: String
        var url: String { "http://127.0.0.1:\(port)/" }

        init(
            _ lab: NetworkLab, accepting scheme: String = "none", status: Int = 401, _ challenges: String...
        ) async throws {
            program = try await lab.near.start(
                ["/usr/bin/python3", "-c", DigestRoundTests.server, scheme, "\(status)"] + challenges)
            port = try #require(await program.output.wait(forCount: 1).first)
        }

        /// The requests, once there are so many.
        func requests(_ count: Int) async -> [String] {
            Array(await program.output.wait(forCount: count + 1, within: .seconds(10)).dropFirst())
        }
    }

    private static let digest = #"Digest realm="r", nonce="NONCE", qop="auth""#
    private let credential = Credential.password(user: "u", password: "p")

    private func manager(_ lab: NetworkLab, proxy: String = "") -> URLSessionManager {
        var configuration = SessionConfiguration()
        configuration.proxy = proxy
        return URLSessionManager(
            configuration: configuration, securityPolicy: .default, on: lab.near.reactor)
    }

    private func run(
        _ manager: URLSessionManager, _ address: String, with credential: Credential? = nil,
        body: String? = nil
    ) async throws -> TaskOutcome {
        var options = TaskOptions()
        options.credential = credential
        let task = try manager.dataTask(
            with: SessionRequest(
                address, method: body == nil ? .get : .post, body: body.map { .data(Data($0.utf8)) }),
            options: options)
        task.resume()
        return await task.outcome()
    }

    @Test("API-588 a server that calls each nonce stale is answered three times, and its 401 is the response")
    func stale() async throws {
        let lab = try await NetworkLab(.f0)
        let server = try await Server(lab, Self.digest + ", stale=true")
        defer { server.program.terminate() }
        let outcome = try await run(manager(lab), server.url, with: credential, body: "body")
        #expect(outcome.response?.statusCode == 401)
        #expect(
            await server.requests(5)
                == ["POST - 4", "POST - 0", "POST Digest 4", "POST Digest 4", "POST Digest 4"])
    }

    @Test("API-588 and so is a proxy, also one that makes a tunnel", arguments: ["http", "https"])
    func staleProxy(_ scheme: String) async throws {
        let lab = try await NetworkLab(.f0)
        let proxy = try await Server(lab, status: 407, Self.digest + ", stale=true")
        defer { proxy.program.terminate() }
        let isTunnel = scheme == "https"
        let outcome = try await run(
            manager(lab, proxy: "http://u:p@127.0.0.1:\(proxy.port)"), "\(scheme)://no.such.test/")
        #expect(outcome.response?.statusCode == (isTunnel ? nil : 407))
        if isTunnel { #expect(outcome.error?.code == .userAuthenticationRequired) }
        let method = isTunnel ? "CONNECT" : "GET"
        #expect(
            await proxy.requests(5)
                == ["Basic", "-", "Digest", "Digest", "Digest"].map { "\(method) \($0) 0" })
    }

    @Test("API-589 a wrong password is sent by Digest once", arguments: [false, true])
    func wrongOnce(_ isInAddress: Bool) async throws {
        let lab = try await NetworkLab(.f0)
        let server = try await Server(lab, Self.digest)
        defer { server.program.terminate() }
        let outcome =
            isInAddress
            ? try await run(manager(lab), "http://u:p@127.0.0.1:\(server.port)/")
            : try await run(manager(lab), server.url, with: credential)
        #expect(outcome.response?.statusCode == 401)
        #expect(outcome.data == Data("no".utf8))
        #expect(
            await server.requests(3) == ["GET \(isInAddress ? "Basic" : "-") 0", "GET - 0", "GET Digest 0"])
    }

    @Test("UPL-524 what libcurl knows of one server's Digest does not spoil the answer to another's")
    func otherServer() async throws {
        let lab = try await NetworkLab(.f0)
        let former = try await Server(lab, Self.digest)
        defer { former.program.terminate() }
        let server = try await Server(lab, accepting: "Digest", Self.digest)
        defer { server.program.terminate() }
        let manager = manager(lab)
        #expect(try await run(manager, former.url).response?.statusCode == 401)
        #expect(try await run(manager, server.url, with: credential).response?.statusCode == 200)
    }

    @Test(
        "UPL-523 where Digest cannot be answered rightly, Basic beside it is used",
        arguments: [
            #"Digest realm="r", nonce="NONCE", algorithm=SHA3"#,
            #"Digest realm="r", nonce="NONCE", algorithm=SHA-512-256, qop="auth""#,
            #"Digest realm="r", nonce="NONCE", qop="auth-int""#,
        ])
    func basicInstead(_ challenge: String) async throws {
        let lab = try await NetworkLab(.f0)
        let server = try await Server(lab, accepting: "Basic", challenge, #"Basic realm="r""#)
        defer { server.program.terminate() }
        let outcome = try await run(manager(lab), server.url, with: credential, body: "body")
        #expect(outcome.response?.statusCode == 200)
        #expect(await server.requests(2) == ["POST - 4", "POST Basic 4"])
    }
}
