// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

@Suite struct InterruptionRulesTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let what: String
        let interruption: Interruption
        let verdict: InterruptionVerdict
        var testDescription: String { what }
    }

    private static func interruption(
        isIdempotent: Bool, _ change: (inout Interruption) -> Void = { _ in }
    ) -> Interruption {
        var interruption = Interruption(isIdempotent: isIdempotent)
        change(&interruption)
        return interruption
    }

    static let cases: [Case] = [
        Case(what: "GET, no answer yet", interruption: interruption(isIdempotent: true), verdict: .restart),
        Case(
            what: "GET, half of the answer in memory",
            interruption: interruption(isIdempotent: true) { $0.hasHead = true }, verdict: .restart),
        Case(
            what: "download with a validator",
            interruption: interruption(isIdempotent: true) {
                $0.hasHead = true
                $0.content = .file(bytes: 1)
                $0.canContinue = true
            }, verdict: .continueByRange),
        Case(
            what: "download without a validator",
            interruption: interruption(isIdempotent: true) {
                $0.hasHead = true
                $0.content = .file(bytes: 1)
            }, verdict: .restart),
        Case(
            what: "download without a byte",
            interruption: interruption(isIdempotent: true) {
                $0.hasHead = true
                $0.content = .file(bytes: 0)
                $0.canContinue = true
            }, verdict: .restart),
        Case(
            what: "stream whose reader has had bytes, with a validator",
            interruption: interruption(isIdempotent: true) {
                $0.hasHead = true
                $0.content = .reader(bytes: 1)
                $0.canContinue = true
            }, verdict: .continueByRange),
        Case(
            what: "stream whose reader has had bytes, without a validator",
            interruption: interruption(isIdempotent: true) {
                $0.hasHead = true
                $0.content = .reader(bytes: 1)
            }, verdict: .cutOff),
        Case(
            what: "stream whose reader has had nothing",
            interruption: interruption(isIdempotent: true) {
                $0.hasHead = true
                $0.content = .reader(bytes: 0)
            }, verdict: .restart),
        Case(
            what: "PUT, half of the body sent",
            interruption: interruption(isIdempotent: true) { $0.isWhollySent = false }, verdict: .restart),
        Case(what: "PUT, all sent", interruption: interruption(isIdempotent: true), verdict: .restart),
        Case(
            what: "POST of which nothing was sent",
            interruption: interruption(isIdempotent: false) {
                $0.hasBegun = false
                $0.isWhollySent = false
            }, verdict: .restart),
        Case(
            what: "POST, half of the body sent",
            interruption: interruption(isIdempotent: false) { $0.isWhollySent = false }, verdict: .restart),
        Case(
            what: "POST, all sent, no answer", interruption: interruption(isIdempotent: false),
            verdict: .outcomeUnknown),
        Case(
            what: "POST, half of the answer",
            interruption: interruption(isIdempotent: false) { $0.hasHead = true }, verdict: .cutOff),
        Case(
            what: "POST that was redirected or refused for want of credentials",
            interruption: interruption(isIdempotent: false) {
                $0.hasHead = true
                $0.isPreliminary = true
            }, verdict: .restart),
    ]

    @Test("What becomes of a request whose connection died", arguments: cases)
    func verdict(_ example: Case) {
        #expect(InterruptionRules.verdict(example.interruption) == example.verdict)
    }

    @Test(
        "A failure that the network explains is repeated unless the server may have carried out the request",
        arguments: [
            (SessionError.Code.notConnectedToInternet, true, true), (.cannotFindHost, true, true),
            (.cannotConnectToHost, true, true), (.networkConnectionLost, true, false),
            (.timedOut, false, false), (.secureConnectionFailed, false, false),
        ])
    func repeated(_ code: SessionError.Code, _ whenIdempotent: Bool, _ otherwise: Bool) {
        func canRepeat(isIdempotent: Bool, isBodyRewindable: Bool = true) -> Bool {
            InterruptionRules.canRepeatAfterFailure(
                code: code, isIdempotent: isIdempotent, isBodyRewindable: isBodyRewindable)
        }
        #expect(canRepeat(isIdempotent: true) == whenIdempotent)
        #expect(canRepeat(isIdempotent: false) == otherwise)
        #expect(!canRepeat(isIdempotent: true, isBodyRewindable: false))
    }

    @Test("AF-234 A request that may have been carried out says so")
    func words() {
        let error = SessionError.outcomeUnknown("eth0: no carrier")
        #expect(error.code == .networkConnectionLost)
        #expect(error.code.rawValue == -1005)
        #expect(error.message.contains("eth0: no carrier"))
        #expect(error.message.contains("the outcome is unknown: the server may have carried"))
    }
}
