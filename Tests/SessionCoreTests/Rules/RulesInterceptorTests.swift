// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import Synchronization
import Testing

struct RulesInterceptorTests {
    private struct Failure: Error, Equatable { let number: Int }

    /// Writes down who was asked.
    private final class Diary: Sendable {
        let entries = Mutex<[String]>([])
        func record(_ entry: String) { entries.withLock { $0.append(entry) } }
        var text: String { entries.withLock { $0.joined(separator: " ") } }
    }

    private struct Both: RequestInterceptor {
        let name: String
        let diary: Diary
        var decision = RetryDecision.doNotRetry
        func adapt(_ request: SessionRequest, state: RequestState) async throws -> SessionRequest {
            diary.record("a\(name)")
            return request
        }
        func retry(_ request: SessionRequest, state: RequestState, after error: any Error) async
            -> RetryDecision
        {
            diary.record("r\(name)")
            return decision
        }
    }

    private struct Neither: RequestInterceptor {}

    private let state = RequestState(identifier: 1, date: Date(timeIntervalSince1970: 0), instant: .now)

    private func adapter(_ number: Int, _ diary: Diary, fails: Bool = false) -> Adapter {
        Adapter { request, _ in
            diary.record("\(number)")
            if fails { throw Failure(number: number) }
            var request = request
            request.headerFields[.userAgent] = (request.headerFields[.userAgent] ?? "") + "\(number)"
            return request
        }
    }

    private func retrier(_ number: Int, _ diary: Diary, _ decision: RetryDecision) -> Retrier {
        Retrier { _, _, _ in
            diary.record("\(number)")
            return decision
        }
    }

    @Test("adapters get what the one before made of the request, interceptors come last")
    func adapting() async throws {
        let diary = Diary()
        let interceptor = Interceptor(
            adapters: [adapter(1, diary), adapter(2, diary)], interceptors: [Both(name: "x", diary: diary)])
        let request = try await interceptor.adapt(SessionRequest("http://h/"), state: state)
        #expect(request.headerFields[.userAgent] == "12")
        #expect(diary.text == "1 2 ax")
    }

    @Test("the first error of an adapter ends it")
    func failingAdapter() async throws {
        let diary = Diary()
        let interceptor = Interceptor(adapters: [
            adapter(1, diary), adapter(2, diary, fails: true), adapter(3, diary),
        ])
        await #expect(throws: Failure(number: 2)) {
            try await interceptor.adapt(SessionRequest("http://h/"), state: state)
        }
        #expect(diary.text == "1 2")
    }

    @Test("retriers are asked until one decides otherwise than not to retry", arguments: [0, 1, 2, 3])
    func retrying(_ kind: Int) async throws {
        let decision: RetryDecision =
            switch kind {
            case 0: .retry
            case 1: .retryAfter(.seconds(3))
            case 2: .doNotRetryWithError(Failure(number: 9))
            default: .doNotRetry
            }
        let diary = Diary()
        let interceptor = Interceptor(
            retriers: [
                retrier(1, diary, .doNotRetry), retrier(2, diary, decision), retrier(3, diary, .doNotRetry),
            ],
            interceptors: [Both(name: "x", diary: diary), Neither()])
        let result = await interceptor.retry(
            try SessionRequest("http://h/"), state: state, after: Failure(number: 0))
        switch (kind, result) {
        case (0, .retry), (1, .retryAfter(.seconds(3))), (3, .doNotRetry): break
        case (2, .doNotRetryWithError(let error)): #expect(error as? Failure == Failure(number: 9))
        default: Issue.record("\(result)")
        }
        #expect(diary.text == (kind == 3 ? "1 2 3 rx" : "1 2"))
    }

    @Test("the manager's interceptor comes before the request's")
    func combining() async throws {
        let diary = Diary()
        let manager = Both(name: "m", diary: diary)
        let own = Both(name: "r", diary: diary)
        let both = try #require(Interceptor.combining(manager: manager, request: own))
        _ = try await both.adapt(SessionRequest("http://h/"), state: state)
        _ = await both.retry(try SessionRequest("http://h/"), state: state, after: Failure(number: 0))
        #expect(diary.text == "am ar rm rr")
        #expect(Interceptor.combining(manager: nil, request: nil) == nil)
        #expect((Interceptor.combining(manager: manager, request: nil) as? Both)?.name == "m")
        #expect((Interceptor.combining(manager: nil, request: own) as? Both)?.name == "r")
    }
}
