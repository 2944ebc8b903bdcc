// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import Synchronization
import Testing

/// Hands out one token after the other, each when the test says so.
private final class TokenService: Authenticator {
    struct Token: RefreshableCredential, Equatable {
        var number: Int
        var requiresRefresh = false
    }
    struct Closed: Error {}

    private let waiting = Mutex<[CheckedContinuation<Bool, Never>]>([])
    private let arrivals: AsyncStream<Void>.Continuation
    let asked: AsyncStream<Void>

    init() { (asked, arrivals) = AsyncStream.makeStream() }

    func apply(_ credential: Token, to request: inout SessionRequest) {
        request.headerFields[.authorization] = "\(credential.number)"
    }

    func isRequest(_ request: SessionRequest, signedWith credential: Token) -> Bool {
        request.headerFields[.authorization] == "\(credential.number)"
    }

    func refresh(_ credential: Token) async throws -> Token {
        let isOpen = await withCheckedContinuation { continuation in
            waiting.withLock { $0.append(continuation) }
            arrivals.yield()
        }
        guard isOpen else { throw Closed() }
        return Token(number: credential.number + 1)
    }

    func answer(_ isOpen: Bool) {
        for continuation in waiting.withLock({ waiting in
            let all = waiting; waiting = []; return all
        }) { continuation.resume(returning: isOpen) }
    }
}

struct RulesAuthenticatorTests {
    private let refusal = SessionError(.badServerResponse, "refused")

    private func state(
        _ retryCount: Int, status: Int? = nil, redirected: SessionRequest? = nil
    ) throws -> RequestState {
        let url = try SessionRequest("http://h/").url
        return RequestState(
            identifier: 1, retryCount: retryCount,
            response: status.map { SessionResponse(url: url, statusCode: $0) }, redirectedRequest: redirected,
            date: Date(timeIntervalSince1970: 0), instant: .now)
    }

    @Test(
        "a hundred refused requests: one refresh, and all are sent again with the new token",
        .timeLimit(.minutes(10)))
    func hundred() async throws {
        let service = TokenService()
        let interceptor = AuthenticationInterceptor(service, credential: .init(number: 1))
        let refused = try state(0, status: 401)
        let signed = try await interceptor.adapt(SessionRequest("http://h/"), state: state(0))
        #expect(signed.headerFields[.authorization] == "1")
        let signatures = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<100 {
                group.addTask { [refusal] in
                    guard case .retry = await interceptor.retry(signed, state: refused, after: refusal) else {
                        return nil
                    }
                    return try await interceptor.adapt(signed, state: state(1)).headerFields[.authorization]
                }
            }
            var asked = service.asked.makeAsyncIterator()
            _ = await asked.next()
            service.answer(true)
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // Those who came after the refresh were signed with the older token, and did not refresh again.
        #expect(signatures == Array(repeating: "2", count: 100))
        #expect(await interceptor.credential == .init(number: 2))
    }

    @Test("a refresh that fails fails the request with its error")
    func failing() async throws {
        let service = TokenService()
        let interceptor = AuthenticationInterceptor(
            service, credential: .init(number: 1, requiresRefresh: true))
        let adapted = Task { try await interceptor.adapt(SessionRequest("http://h/"), state: state(0)) }
        var asked = service.asked.makeAsyncIterator()
        _ = await asked.next()
        service.answer(false)
        await #expect(throws: TokenService.Closed.self) { _ = try await adapted.value }
    }

    @Test("a cancelled request waits no longer, and the refresh continues for the others")
    func cancelling() async throws {
        let service = TokenService()
        let interceptor = AuthenticationInterceptor(
            service, credential: .init(number: 1, requiresRefresh: true))
        let first = Task { try await interceptor.adapt(SessionRequest("http://h/"), state: state(0)) }
        var asked = service.asked.makeAsyncIterator()
        _ = await asked.next()
        first.cancel()
        await #expect(throws: CancellationError.self) { _ = try await first.value }
        async let second = interceptor.adapt(SessionRequest("http://h/"), state: state(0))
        service.answer(true)
        #expect(try await second.headerFields[.authorization] == "2")
    }

    @Test("a credential that is set meanwhile lets those go on who wait")
    func replacing() async throws {
        let service = TokenService()
        let interceptor = AuthenticationInterceptor(
            service, credential: .init(number: 1, requiresRefresh: true))
        async let adapted = interceptor.adapt(SessionRequest("http://h/"), state: state(0))
        var asked = service.asked.makeAsyncIterator()
        _ = await asked.next()
        await interceptor.setCredential(.init(number: 50))
        #expect(try await adapted.headerFields[.authorization] == "50")
        service.answer(true)
    }

    @Test("what a redirect has left behind was not refused; an older credential is replaced once")
    func redirected() async throws {
        let interceptor = AuthenticationInterceptor(TokenService(), credential: .init(number: 2))
        func retries(signedWith number: Int) async throws -> Bool {
            var request = try SessionRequest("http://h/")
            request.headerFields[.authorization] = "\(number)"
            let state = try state(0, status: 401, redirected: SessionRequest("http://other/"))
            if case .retry = await interceptor.retry(request, state: state, after: refusal) { return true }
            return false
        }
        #expect(try await !retries(signedWith: 2))
        #expect(try await retries(signedWith: 1))
        #expect(await interceptor.credential == .init(number: 2))
    }

    @Test("what is no refusal is left to other retriers")
    func unconcerned() async throws {
        let interceptor = AuthenticationInterceptor(TokenService(), credential: .init(number: 1))
        for status in [nil, 403, 500] {
            let decision = await interceptor.retry(
                try SessionRequest("http://h/"), state: try state(0, status: status), after: refusal)
            guard case .doNotRetry = decision else {
                Issue.record("\(decision)")
                return
            }
        }
    }
}
