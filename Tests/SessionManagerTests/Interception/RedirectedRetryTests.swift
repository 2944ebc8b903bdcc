// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import ReachTesting
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Tries after a redirect: what is sent again is the request that was asked for, and by that it is judged.
struct RedirectedRetryTests {
    /// Answers a POST by leading elsewhere.
    private func post(
        _ lab: Lab, to target: String, code: Int, key: String, _ body: RequestBody = .data(Data("1".utf8))
    ) throws -> SessionRequest {
        try lab.request("/redirect-to?key=\(key)&code=\(code)&read=1&url=\(target)", .post, body: body)
    }

    @Test(
        "a POST whose redirect has failed is not sent twice, whatever method the redirect had",
        arguments: [301, 302, 303, 307])
    func policy(_ code: Int) async throws {
        let lab = try await Lab()
        let options = TaskOptions.retrying()
        let key = "redirected-post-\(code)"
        let end = try await lab.run(
            post(lab, to: "/status/503", code: code, key: key), options: options)
        #expect(end.response?.statusCode == 503)
        #expect(try await lab.origin.count(key) == 1)
    }

    @Test("nor where its redirect cannot be connected to, or its connection breaks")
    func connection() async throws {
        let lab = try await Lab()
        var lost = TaskOptions()
        lost.interceptor = ConnectionLostRetryPolicy()
        let broken = lab.origin.faultURL("/fault/flaky?times=9%26key=redirected-broken-target")
        let end = try await lab.run(
            post(lab, to: broken, code: 303, key: "redirected-broken"), options: lost)
        #expect(end.error?.code == .networkConnectionLost)
        #expect(try await lab.origin.count("redirected-broken") == 1)

        var offline = TaskOptions()
        offline.interceptor = Interceptor(retriers: [OfflineRetrier(provider: ScriptedNetwork(.wired))])
        let refused = lab.origin.url("/", at: .refused)
        let other = try await lab.run(
            post(lab, to: refused, code: 303, key: "redirected-refused"), options: offline)
        #expect(other.error?.code == .cannotConnectToHost)
        #expect(try await lab.origin.count("redirected-refused") == 1)
    }

    @Test("one that may be sent twice is sent again from its beginning")
    func idempotent() async throws {
        let lab = try await Lab()
        let options = TaskOptions.retrying(respectsRetryAfter: false)
        var request = try post(
            lab, to: "/retry-after?times=1%26key=redirected-key-target", code: 303, key: "redirected-key")
        try request.setValue("1", forHeader: "Idempotency-Key")
        let end = try await lab.run(request, options: options)
        #expect(end.response?.statusCode == 200)
        #expect(try await lab.origin.statistics("redirected-key").methods == ["POST": 2])
        #expect(try await lab.origin.statistics("redirected-key-target").methods == ["GET": 2])
    }

    @Test("a body that can be read once is not read again after a redirect that needs none")
    func onceBody() async throws {
        let lab = try await Lab()
        let asked = Diary<Bool>()
        var options = TaskOptions()
        options.interceptor = Interceptor(retriers: [
            Retrier { request, state, _ in
                asked.record(request.method == .post && request.body?.isRewindable == false)
                return state.retryCount < 2 ? .retry : .doNotRetry
            }
        ])
        let end = try await lab.run(
            post(
                lab, to: "/status/503", code: 303, key: "redirected-once", .stream(OnceSource("once"))),
            options: options)
        #expect(end.error?.code == .requestBodyStreamExhausted)
        #expect(asked.all == [true])
        #expect(try await lab.origin.count("redirected-once") == 1)
    }

    @Test("another origin that refuses a request without the credential says nothing about the credential")
    func authentication() async throws {
        let lab = try await Lab()
        let authenticator = CountingAuthenticator()
        var options = TaskOptions()
        options.interceptor = AuthenticationInterceptor(
            authenticator, credential: .init(token: "redirected-sign.1"))
        let elsewhere = lab.origin.url("/auth-token?key=redirected-sign-target", at: .http, host: "localhost")
        let request = try lab.request("/redirect-to?key=redirected-sign&url=\(elsewhere)")
        let end = try await lab.run(request, options: options)
        #expect(end.response?.statusCode == 401)
        #expect(end.error?.code == .badServerResponse)
        #expect(authenticator.refreshes.all.isEmpty)
        let key = "redirected-sign"
        #expect(try await lab.origin.statistics(key).authorizations == ["Bearer redirected-sign.1"])
        #expect(try await lab.origin.statistics("\(key)-target").authorizations == [""])
    }

    @Test("a redirect within the origin keeps the credential, and its refusal has it refreshed")
    func sameOrigin() async throws {
        let lab = try await Lab()
        let authenticator = CountingAuthenticator()
        var options = TaskOptions()
        options.interceptor = AuthenticationInterceptor(authenticator, credential: .init(token: "old"))
        let request = try lab.request(
            "/redirect-to?key=redirected-refresh&url=/auth-token?key=redirected-home")
        let end = try await lab.run(request, options: options)
        #expect(end.response?.statusCode == 200)
        #expect(authenticator.refreshes.all.count == 1)
        #expect(try await lab.origin.count("redirected-refresh") == 2)
    }
}

/// Signs with a bearer token, and has another one for `redirected-home`.
private final class CountingAuthenticator: Authenticator {
    struct Token: RefreshableCredential {
        var token: String
        var requiresRefresh: Bool { false }
    }

    struct Endless: Error {}

    let refreshes = Diary<String>()
    private let signed = Diary<String>()

    func apply(_ credential: Token, to request: inout SessionRequest) throws {
        signed.record(credential.token)
        if signed.all.count > 10 { throw Endless() }
        request.headerFields[.authorization] = "Bearer \(credential.token)"
    }

    func isRequest(_ request: SessionRequest, signedWith credential: Token) -> Bool {
        request.headerFields[.authorization] == "Bearer \(credential.token)"
    }

    func refresh(_ credential: Token) -> Token {
        refreshes.record(credential.token)
        return Token(token: "redirected-home.1")
    }
}
