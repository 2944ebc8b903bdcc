// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import SessionManager
import TestSupport
import Testing
import WebSockets

/// The request that becomes a WebSocket: refused, redirected, authenticated, limited, through a proxy.
@Suite(
    "The opening of WebSockets",
    .enabled(if: NetworkLab.isAvailable, "\(NetworkLab.unavailableReason ?? "")"), .timeLimit(.minutes(10)))
struct WebSocketOpeningTests {
    @Test(
        "API-346 An answer that opens nothing says why, with response and content",
        arguments: [
            (200, SessionError.Code.badServerResponse), (403, .badServerResponse), (404, .badServerResponse),
        ])
    func status(status: Int, code: SessionError.Code) async throws {
        let lab = try await SocketLab()
        let socket = try lab.socket("/status?code=\(status)&body=because")
        let error = try #require(await socket.refusal())
        #expect(error.code == code && error.message.contains("\(status)"))
        #expect(error.response?.statusCode == status && error.data == Data("because".utf8))
        #expect(await socket.everything().error?.code == code)
    }

    @Test(
        "API-347 A handshake that is not an answer to this request is refused",
        arguments: [
            "Sec-WebSocket-Accept&value=AAAA", "Sec-WebSocket-Accept", "Upgrade&value=h2c",
            "Connection&value=close",
            "Sec-WebSocket-Protocol&value=other", "Sec-WebSocket-Extensions&value=permessage-deflate",
        ])
    func wrongHandshake(query: String) async throws {
        let lab = try await SocketLab()
        let error = await lab.refusal(of: "/wrong?field=\(query)")
        #expect(error?.code == .badServerResponse)
        #expect(error?.response?.statusCode == 101)
    }

    @Test(
        "API-348 Redirects are followed to another upgrade, and credentials are asked for as with every request"
    )
    func redirectAndChallenge() async throws {
        let lab = try await SocketLab()
        let redirected = try lab.socket("/redirect?to=/target")
        #expect(try await redirected.opened().url.path() == "/target")
        await redirected.close()

        var options = TaskOptions()
        options.challengeHandler = { challenge in
            .useCredential(.password(user: "user", password: challenge.method == .basic ? "secret" : ""))
        }
        let asked = try lab.socket("/private", taskOptions: options)
        try await asked.opened()
        await asked.close()
        let inAddress = try lab.manager.webSocket("ws://user:secret@127.0.0.1:\(lab.server.port)/private")
        try await inAddress.opened()
        await inAddress.close()
        let refused = await lab.refusal(of: "/private")
        #expect(refused?.code == .userAuthenticationRequired && refused?.response?.statusCode == 401)
        let digest = try lab.socket("/private?digest=1", taskOptions: options)
        let error = await digest.refusal()
        #expect(error?.code == .userAuthenticationRequired && error?.advice.contains("Basic") == true)
    }

    @Test("API-349 Cookies of the session go along, and those of the handshake are kept")
    func cookies() async throws {
        let lab = try await SocketLab()
        let first = try lab.socket("/cookie?set=a%3D1%3B%20Path%3D%2F")
        try await first.opened()
        await first.close()
        let second = try lab.socket("/echo")
        try await second.opened()
        await second.close()
        #expect(try await lab.server.requests(2)[1].fields?["cookie"] == "a=1")
        // libcurl sends it as well.
        _ = try? await lab.manager.data(
            for: try SessionRequest("http://127.0.0.1:\(lab.server.port)/status?code=200"))
        #expect(try await lab.server.requests(3)[2].fields?["cookie"] == "a=1")
    }

    @Test("API-592 A handshake without TLS leaves a secure cookie of the session alone, and sets others")
    func secureCookie() async throws {
        let lab = try await SocketLab(isSecure: true)
        let plain = try await SocketLab(in: lab.namespace)
        func open(_ address: String) async throws {
            let socket = try lab.manager.webSocket(address)
            try await socket.opened()
            await socket.close()
        }
        try await open(lab.address("/cookie?set=a%3D1%3B%20Path%3D/%3B%20Secure"))
        try await open(plain.address("/cookie?set=a%3D2%3B%20Path%3D/"))
        try await open(plain.address("/cookie?set=b%3D3%3B%20Path%3D/"))
        try await open(lab.address("/echo"))
        let sent = try #require(try await lab.server.requests(2)[1].fields?["cookie"])
        #expect(Set(sent.split(separator: "; ")) == ["a=1", "b=3"])
        #expect(try await plain.server.requests(2)[1].fields?["cookie"] == nil)
        try await open(lab.address("/cookie?set=a%3D4%3B%20Path%3D/"))
        try await open(plain.address("/echo"))
        let last = try #require(try await plain.server.requests(3)[2].fields?["cookie"])
        #expect(Set(last.split(separator: "; ")) == ["a=4", "b=3"])
    }

    @Test("API-356 The limits of time of a request hold for the handshake alone")
    func timeLimits() async throws {
        let lab = try await SocketLab()
        var request = try SessionRequest("http://127.0.0.1:\(lab.server.port)/echo")
        // A handshake takes longer with a sanitizer.
        let unit = Duration.milliseconds(BuiltProgram.isInstrumented ? 1_000 : 100)
        request.options.timeoutInterval = unit
        request.options.timeouts.total = unit * 2
        request.options.timeouts.firstByte = unit
        // Longer than the limit of silence.
        let options = WebSocketOptions(keepAlive: unit * 1.5)
        let socket = try lab.manager.webSocket(with: request, options: options)
        try await socket.opened()
        // As long as twice the longest limit, told by pings.
        _ = try await lab.server.frames(9, 3)
        try await socket.send("a")
        #expect(try await socket.receive() == .text("a"))
        await socket.close()
    }

    @Test(
        "API-358 It goes through a proxy's tunnel, without TLS too; a proxy that refuses is named",
        arguments: [false, true])
    func proxy(isSecure: Bool) async throws {
        let proxy = try await SocketLab()
        let lab = try await SocketLab(isSecure: isSecure, in: proxy.namespace) {
            $0.proxy = "http://127.0.0.1:\(proxy.server.port)"
        }
        let socket = try lab.socket("/echo")
        try await socket.send("a")
        #expect(try await socket.receive() == .text("a"))
        await socket.close()
        let tunnels = try await proxy.server.wait { $0.contains { $0.event == "tunnel" } }
        #expect(tunnels.last?.path == "127.0.0.1:\(lab.server.port)")
        let refused = try lab.manager.webSocket("\(isSecure ? "wss" : "ws")://127.0.0.1:1/")
        let error = await refused.refusal()
        #expect(error?.code == .cannotConnectToHost && error?.message.contains("403") == true)
    }

    @Test("API-359 The manager's policy judges the server, its adapters and its delegate the request")
    func managerParts() async throws {
        struct Delegate: SessionDelegate {
            func task(
                _ task: SessionTask, didReceive challenge: AuthenticationChallenge
            ) async throws -> ChallengeDisposition {
                .useCredential(.password(user: "user", password: "secret"))
            }
        }
        let lab = try await SocketLab(isSecure: true)
        let strict = lab.another()
        strict.securityPolicy = .default
        let untrusted = await (try lab.socket("/echo", on: strict)).refusal()
        #expect(untrusted?.domain == .security)
        let adapted = lab.another()
        adapted.interceptor = Interceptor(adapters: [
            Adapter { request, _ in
                var request = request
                try request.setValue("7", forHeader: "X-Device")
                return request
            }
        ])
        adapted.delegate = Delegate()
        let socket = try lab.socket("/private", on: adapted)
        try await socket.send("a")
        #expect(try await socket.receive() == .text("a"))
        await socket.close()
        let requests = try await lab.server.requests(2)
        #expect(requests.count == 2 && requests.allSatisfy { $0.fields?["x-device"] == "7" })
        let refused = await (try lab.socket("/status?code=403&body=no", on: adapted)).refusal()
        #expect(refused?.response?.statusCode == 403)
    }
}
