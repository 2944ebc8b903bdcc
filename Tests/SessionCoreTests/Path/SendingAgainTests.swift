// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import SessionCore
import Testing

@Suite("What is sent again after a failure")
struct SendingAgainTests {
    /// A POST that the server has got whole.
    private var post: Interruption { Interruption(isIdempotent: false) }

    private func failure(
        _ code: SessionError.Code, isBlocked: Bool = false, isForClock: Bool = false,
        isBodyRewindable: Bool = true, _ exchange: ExchangeProgress? = nil
    ) -> RequestStateMachine.Step? {
        FailedTry(
            after: code, isBlocked: isBlocked, isForClock: isForClock, isBodyRewindable: isBodyRewindable,
            isIdempotent: exchange?.interruption.isIdempotent ?? true, .attempt, exchange
        ).stepWhenReachable
    }

    @Test(
        "UPL-474 After a handshake that the clock has spoiled anything is sent again, since nothing was sent")
    func clock() {
        var exchange = ExchangeProgress(post)
        #expect(failure(.certificateNotYetValid, isForClock: true, exchange) == .request)
        #expect(failure(.certificateNotYetValid, isForClock: true) == .request)
        exchange.isBodySpent = true
        #expect(failure(.certificateNotYetValid, isForClock: true, exchange) == .newBody)
        exchange.hasRedirect = true
        #expect(failure(.certificateNotYetValid, isForClock: true, exchange) == .redirect)
    }

    @Test(
        "UPL-475 A failure without a network begins where it came, unless the server may have got the request"
    )
    func blocked() {
        var exchange = ExchangeProgress(post)
        #expect(failure(.cannotFindHost, isBlocked: true) == .attempt)
        #expect(failure(.cannotFindHost) == nil)
        #expect(failure(.cannotFindHost, isBlocked: true, isBodyRewindable: false) == nil)
        #expect(failure(.networkConnectionLost, isBlocked: true, exchange) == nil)
        exchange.interruption.hasBegun = false
        #expect(failure(.cannotConnectToHost, isBlocked: true, exchange) == .request)
        #expect(failure(.badServerResponse, isBlocked: true, exchange) == nil)
    }

    @Test("UPL-476 libcurl may send a request again that is idempotent, unfinished, or was refused alone")
    func resend() {
        func second(
            connections: Int = 0, isAlone: Bool = false, _ exchange: Interruption
        ) -> SessionError.Code? {
            var resends = ResendGuard()
            #expect(resends.send(connections: connections, isAlone: isAlone, exchange) == nil)
            #expect(resends.hasSent)
            return resends.send(connections: 1, isAlone: isAlone, exchange)?.code
        }
        #expect(second(post) == .networkConnectionLost)
        #expect(second(Interruption(isIdempotent: true)) == nil)
        var partial = post
        partial.isWhollySent = false
        #expect(second(partial) == nil)
        #expect(second(connections: 1, isAlone: true, post) == nil)
        // The connection was there before, or serves others.
        #expect(second(connections: 0, isAlone: true, post) == .networkConnectionLost)
        #expect(second(connections: 1, isAlone: false, post) == .networkConnectionLost)
    }

    @Test("UPL-477 An error by which nothing was sent is replaced where the request had left before")
    func unconnected() {
        var resends = ResendGuard()
        func error(_ code: SessionError.Code, _ exchange: Interruption) -> SessionError? {
            resends.error(insteadOf: SessionError(code, "it broke", advice: "try again"), exchange)
        }
        #expect(error(.cannotConnectToHost, post) == nil)
        _ = resends.send(connections: 0, isAlone: false, post)
        #expect(error(.cannotConnectToHost, post)?.code == .networkConnectionLost)
        #expect(error(.timedOut, post) == nil)
        #expect(error(.cannotFindHost, Interruption(isIdempotent: true)) == nil)
    }

    @Test("UPL-520 No error advises to try again what has left and must not be carried out twice")
    func advice() {
        var resends = ResendGuard()
        func advice(_ code: SessionError.Code, _ exchange: Interruption) -> String {
            let error = SessionError(code, "it broke", advice: "try again")
            return (resends.error(insteadOf: error, exchange) ?? error).description
        }
        let again = "it broke; try again"
        #expect(advice(.networkConnectionLost, post) == again)
        _ = resends.send(connections: 1, isAlone: true, post)
        let unknown =
            "it broke, and the outcome is unknown: the server may have carried out the request; ask the server before sending it again, or mark requests that may be sent twice as idempotent"
        #expect(advice(.networkConnectionLost, post) == unknown)
        #expect(advice(.badServerResponse, post) == unknown)
        #expect(advice(.cannotDecodeRawData, post) == again)
        var answered = post
        answered.hasHead = true
        #expect(
            advice(.networkConnectionLost, answered) == "it broke; ask the server before sending it again")
        #expect(advice(.badServerResponse, answered) == again)
        var partial = post
        partial.isWhollySent = false
        #expect(advice(.networkConnectionLost, partial) == again)
        #expect(advice(.networkConnectionLost, Interruption(isIdempotent: true)) == again)
    }

    @Test("UPL-478 Another try of a download asks for the rest unless its content is bad")
    func nextTry() {
        for code in [SessionError.Code.networkConnectionLost, .timedOut, .cannotConnectToHost] {
            #expect(code.isOutage)
            #expect(InterruptionRules.canContinueInNextTry(after: code, status: 206))
        }
        #expect(InterruptionRules.canContinueInNextTry(after: .badServerResponse, status: 503))
        for status in [nil, 200, 206] {
            #expect(!InterruptionRules.canContinueInNextTry(after: .badServerResponse, status: status))
        }
        #expect(!InterruptionRules.canContinueInNextTry(after: .cannotDecodeRawData, status: 503))
    }

    @Test("UPL-479 The methods that may be carried out twice are those of RFC 9110")
    func methods() {
        let idempotent: [HTTPRequest.Method] = [.get, .head, .put, .delete, .options, .trace]
        #expect(idempotent.allSatisfy { $0.isIdempotent })
        #expect([HTTPRequest.Method.post, .patch, .connect].allSatisfy { !$0.isIdempotent })
    }

    @Test("UPL-480 A connection is tried again for 2 s after a loss, with delays that double to 320 ms")
    func reconnection() {
        var reconnection = Reconnection()
        func mayTry(_ code: SessionError.Code, at now: Int64) -> Bool {
            reconnection.mayTryAgain(after: code, lastActivity: nil, pathChange: nil, at: now)
        }
        #expect(!mayTry(.cannotConnectToHost, at: 0))
        reconnection.pathLost(at: 100)
        #expect(mayTry(.cannotConnectToHost, at: 2_000_000_099))
        #expect(!mayTry(.cannotConnectToHost, at: 2_000_000_100))
        #expect(!mayTry(.networkConnectionLost, at: 101))
        #expect((0..<6).map { _ in reconnection.nextDelay() / 1_000_000 } == [20, 40, 80, 160, 320, 320])
        reconnection.serverAnswered()
        #expect(!mayTry(.cannotConnectToHost, at: 101))
    }

    @Test("UPL-481 A connection that was begun near a change of the paths is tried again, a refused one not")
    func change() {
        func mayTry(_ code: SessionError.Code, begun: Int64?, change: Int64?) -> Bool {
            var reconnection = Reconnection()
            return reconnection.mayTryAgain(
                after: code, lastActivity: begun, pathChange: change, at: 5_000_000_000)
        }
        #expect(mayTry(.notConnectedToInternet, begun: 3_000_000_000, change: 1_000_000_001))
        #expect(!mayTry(.notConnectedToInternet, begun: 3_000_000_000, change: 1_000_000_000))
        #expect(!mayTry(.cannotConnectToHost, begun: 3_000_000_000, change: 3_000_000_000))
        #expect(!mayTry(.cannotFindHost, begun: nil, change: 3_000_000_000))
        #expect(!mayTry(.cannotFindHost, begun: 3_000_000_000, change: nil))
    }
}
