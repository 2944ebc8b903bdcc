// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import Testing

/// Always the same number.
private struct Loaded: RandomNumberGenerator {
    let value: UInt64
    func next() -> UInt64 { value }
}

struct RulesRetryTests {
    private let now = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

    private func state(_ retryCount: Int, status: Int? = nil, _ fields: HTTPFields = [:]) throws
        -> RequestState
    {
        let response = try status.map {
            SessionResponse(url: try SessionRequest("http://h/").url, statusCode: $0, headerFields: fields)
        }
        return RequestState(
            identifier: 1, retryCount: retryCount, response: response, date: now, instant: .now)
    }

    private func decide(
        _ policy: RetryPolicy, _ state: RequestState, _ error: any Error, method: HTTPRequest.Method = .get,
        random: UInt64 = .max
    ) throws -> String {
        var generator = Loaded(value: random)
        return name(
            policy.decide(
                try SessionRequest("http://h/", method: method), state: state, after: error, using: &generator
            ))
    }

    private func name(_ decision: RetryDecision) -> String {
        switch decision {
        case .retry: "at once"
        case .retryAfter(let pause): "\(pause)"
        case .doNotRetry: "no"
        case .doNotRetryWithError: "error"
        }
    }

    private var plain: RetryPolicy {
        var policy = RetryPolicy()
        policy.jitter = .none
        return policy
    }

    private let lost = SessionError(.networkConnectionLost, "lost")
    private let refused = SessionError(.badServerResponse, "refused")

    @Test("the pauses double from half a second; two retries")
    func pauses() throws {
        var policy = plain
        for (count, expected) in [(0, "0.5 seconds"), (1, "1.0 seconds"), (2, "no"), (3, "no")] {
            #expect(try decide(policy, state(count), lost) == expected)
        }
        policy.retryLimit = .max
        policy.maximumDelay = .seconds(7)
        for (count, expected) in [
            (2, "2.0 seconds"), (3, "4.0 seconds"), (4, "7.0 seconds"), (10_000, "7.0 seconds"),
        ] {
            #expect(try decide(policy, state(count), lost) == expected)
        }
        policy.base = 0
        #expect(try decide(policy, state(5), lost) == "0.5 seconds")
        policy.scale = -1
        #expect(try decide(policy, state(5), lost) == "at once")
    }

    @Test("the caller says which failures may pass")
    func failures() throws {
        var policy = plain
        #expect(policy.errorCodes.contains(lost.code) && !policy.errorCodes.contains(.badURL))
        #expect(try decide(policy, state(0), SessionError(.badURL, "no URL")) == "no")
        policy.errorCodes = [.badURL]
        #expect(try decide(policy, state(0), SessionError(.badURL, "no URL")) == "0.5 seconds")
        #expect(try decide(policy, state(0), lost) == "no")
    }

    @Test("full jitter: anything between nothing and the full pause")
    func jitter() throws {
        let policy = RetryPolicy()
        #expect(try decide(policy, state(0), lost, random: 0) == "at once")
        var sum = 0.0
        for _ in 0..<500 {
            var generator = SystemRandomNumberGenerator()
            let decision = try policy.decide(
                SessionRequest("http://h/"), state: state(1), after: lost, using: &generator)
            guard case .retryAfter(let pause) = decision else { continue }
            #expect(pause <= .seconds(1))
            sum += pause / .seconds(1)
        }
        #expect((0.4...0.6).contains(sum / 500))
    }

    @Test(
        "what is sent again: idempotent methods, statuses and failures that may pass",
        arguments: [
            (HTTPRequest.Method.get, true), (.head, true), (.put, true), (.delete, true), (.options, true),
            (.trace, true),
            (.post, false), (.patch, false), (.connect, false),
        ])
    func methods(_ method: HTTPRequest.Method, _ isRepeated: Bool) throws {
        #expect(try (decide(plain, state(0), lost, method: method) != "no") == isRepeated)
        #expect(try (decide(plain, state(0, status: 503), refused, method: method) != "no") == isRepeated)
    }

    @Test(
        "statuses",
        arguments: [
            (408, true), (500, true), (502, true), (503, true), (504, true), (404, false), (401, false),
            (501, false), (429, false), (200, false),
        ])
    func statuses(_ status: Int, _ isRepeated: Bool) throws {
        #expect(try (decide(plain, state(0, status: status), refused) != "no") == isRepeated)
        // Where the state has no response, that of the error counts.
        let error = try SessionError(
            .badServerResponse, "refused",
            response: SessionResponse(url: SessionRequest("http://h/").url, statusCode: status))
        #expect(try (decide(plain, state(0), error) != "no") == isRepeated)
    }

    @Test(
        "failures",
        arguments: [
            (SessionError.Code.timedOut, true), (.cannotConnectToHost, true), (.cannotFindHost, true),
            (.notConnectedToInternet, true),
            (.secureConnectionFailed, true), (.badServerResponse, true), (.cancelled, false),
            (.certificateUntrusted, false),
            (.certificateHasBadDate, true), (.badURL, false), (.tooManyRedirects, false),
            (.cannotDecodeContentData, false),
        ])
    func failures(_ code: SessionError.Code, _ isRepeated: Bool) throws {
        #expect(try (decide(plain, state(0), SessionError(code, "failed")) != "no") == isRepeated)
        let wrapped = SessionError(.cannotParseResponse, "wrapped", underlying: SessionError(code, "failed"))
        #expect(try (decide(plain, state(0), wrapped) != "no") == isRepeated)
        #expect(try decide(plain, state(0), CancellationError()) == "no")
    }

    @Test("a key of idempotency makes any method repeatable")
    func idempotencyKey() throws {
        var request = try SessionRequest("http://h/", method: .post)
        var generator = Loaded(value: 0)
        try request.setValue("k", forHeader: "idempotency-key")
        #expect(try name(plain.decide(request, state: state(0), after: lost, using: &generator)) != "no")
    }

    @Test("AF-156 a body that cannot be rewound is not sent again")
    func body() throws {
        struct Once: BodySource {
            let isRewindable: Bool
            var length: Int64? { nil }
            func makeReader() throws(SessionError) -> any BodyReader {
                throw SessionError(.requestBodyStreamExhausted, "used")
            }
        }
        for isRewindable in [true, false] {
            var request = try SessionRequest("http://h/", method: .put)
            request.body = .stream(Once(isRewindable: isRewindable))
            var generator = Loaded(value: 0)
            #expect(
                try (name(plain.decide(request, state: state(0), after: lost, using: &generator)) != "no")
                    == isRewindable)
        }
    }

    @Test(
        "Retry-After in both forms comes first, and the pause on top",
        arguments: [
            ("7", nil, "7.5 seconds"), ("0", nil, "0.5 seconds"), ("120", nil, "120.0 seconds"),
            ("121", nil, "no"),
            ("Sun, 06 Nov 1994 08:49:47 GMT", nil, "10.5 seconds"),
            ("Sun, 06 Nov 1994 08:49:47 GMT", "Sun, 06 Nov 1994 08:49:45 GMT", "2.5 seconds"),
            ("Sun, 06 Nov 1994 08:49:00 GMT", nil, "0.5 seconds"),
            ("Sunday, 06-Nov-94 08:49:40 GMT", nil, "3.5 seconds"),
            ("-1", nil, "0.5 seconds"), ("soon", nil, "0.5 seconds"), ("1.5", nil, "0.5 seconds"),
            ("", nil, "0.5 seconds"),
            ("99999999999999999999999", nil, "no"), ("Fri, 31 Dec 9999 23:59:59 GMT", nil, "no"),
        ] as [(String, String?, String)])
    func retryAfter(_ value: String, _ date: String?, _ expected: String) throws {
        var fields: HTTPFields = [.retryAfter: value]
        fields[.date] = date
        #expect(try decide(plain, state(0, status: 503, fields), refused) == expected)
        var deaf = plain
        deaf.respectsRetryAfter = false
        #expect(try decide(deaf, state(0, status: 503, fields), refused) == "0.5 seconds")
    }

    @Test("the policy for lost connections sends nothing else again")
    func connectionLost() async throws {
        let policy = ConnectionLostRetryPolicy()
        let request = try SessionRequest("http://h/")
        #expect(name(await policy.retry(request, state: try state(0), after: lost)) != "no")
        #expect(name(await policy.retry(request, state: try state(2), after: lost)) == "no")
        #expect(
            name(await policy.retry(request, state: try state(0), after: SessionError(.timedOut, "slow")))
                == "no")
        #expect(name(await policy.retry(request, state: try state(0, status: 503), after: refused)) == "no")
        let post = try SessionRequest("http://h/", method: .post)
        #expect(name(await policy.retry(post, state: try state(0), after: lost)) == "no")
    }

    @Test("the policy for lost connections tries as often and sends what it was made for")
    func ownConnectionLost() async throws {
        let policy = ConnectionLostRetryPolicy(retryLimit: 1, methods: [.post])
        let post = try SessionRequest("http://h/", method: .post)
        #expect(name(await policy.retry(post, state: try state(0), after: lost)) != "no")
        #expect(name(await policy.retry(post, state: try state(1), after: lost)) == "no")
        let get = try SessionRequest("http://h/")
        #expect(name(await policy.retry(get, state: try state(0), after: lost)) == "no")
    }
}
