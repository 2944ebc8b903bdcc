// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

@testable import Outbox

@Suite struct DeliveryVerdictTests {
    /// The kind of failure, with whether it is tried again.
    private func kind(_ verdict: DeliveryVerdict) -> (OutboxFailure.Kind?, isTriedAgain: Bool) {
        switch verdict {
        case .retry(let failure): (failure.kind, true)
        case .dead(let failure): (failure.kind, false)
        case .delivered, .untried: (nil, false)
        }
    }

    @Test("Any success delivers", arguments: [200, 201, 202, 204, 299])
    func success(status: Int) {
        #expect(DeliveryVerdict(statusCode: status) == .delivered(statusCode: status))
    }

    @Test(
        "Statuses that pass are tried again", arguments: [408, 425, 429, 500, 501, 502, 503, 504, 511, 599])
    func passing(status: Int) {
        guard case .retry(let failure) = DeliveryVerdict(statusCode: status) else {
            Issue.record("\(status) is not tried again")
            return
        }
        #expect(failure.kind == .server && failure.statusCode == status && failure.isPassing)
    }

    @Test("FLD-023 409 to what may have come before is tried again; to what is new it is a refusal")
    func conflict() {
        let (kind, isTriedAgain) = kind(DeliveryVerdict(statusCode: 409, isRepeated: true))
        #expect(kind == .server && isTriedAgain)
        #expect(!self.kind(DeliveryVerdict(statusCode: 409)).isTriedAgain)
        let schedule = RetrySchedule()
        #expect(schedule.pause(afterFailures: 15, kind: .server, isConflict: true, chance: 0) != nil)
        #expect(schedule.pause(afterFailures: 16, kind: .server, isConflict: true, chance: 0) == nil)
    }

    @Test(
        "FLD-023 421 and 423 pass, and so does every refusal with Retry-After",
        arguments: [403, 404, 409, 413, 422])
    func later(status: Int) {
        for status in [421, 423] { #expect(kind(DeliveryVerdict(statusCode: status)).isTriedAgain) }
        #expect(!kind(DeliveryVerdict(statusCode: status)).isTriedAgain)
        let asked = kind(DeliveryVerdict(statusCode: status, asksForLater: true))
        #expect(asked.0 == .server && asked.isTriedAgain)
        let long = SessionError(.dataLengthExceedsMaximum, "x")
        #expect(kind(DeliveryVerdict(error: long, statusCode: status, asksForLater: true)).isTriedAgain)
        let old = kind(DeliveryVerdict(statusCode: 401, fillsSecrets: true, asksForLater: true))
        #expect(old.0 == .credentials)
    }

    @Test(
        "Other refusals become dead letters",
        arguments: [0, 199, 300, 304, 400, 401, 403, 404, 409, 410, 413, 422])
    func refused(status: Int) {
        guard case .dead(let failure) = DeliveryVerdict(statusCode: status) else {
            Issue.record("\(status) is no dead letter")
            return
        }
        #expect(failure.kind == .refused && !failure.isPassing)
    }

    @Test(
        "A redirect that is not followed delivers nothing, and gives nothing up",
        arguments: [301, 302, 307, 308])
    func redirected(status: Int) {
        for isSecure in [false, true] {
            let verdict = DeliveryVerdict(
                statusCode: status, isSecure: isSecure, location: "http://portal.example/\u{1B}")
            guard case .retry(let failure) = verdict else {
                Issue.record("\(status) is not tried again")
                return
            }
            #expect(failure.kind == .server && failure.statusCode == status && failure.isPassing)
            #expect(failure.message.contains(#""http://portal.example/\u{1b}""#))
        }
    }

    @Test("303 says that the request was carried out, where it is the server that says so")
    func seeOther() {
        #expect(DeliveryVerdict(statusCode: 303, isSecure: true) == .delivered(statusCode: 303))
        #expect(kind(DeliveryVerdict(statusCode: 303)).isTriedAgain)
    }

    @Test(
        "A redirect to nowhere is no fault of the request",
        arguments: [SessionError.Code.badURL, .unsupportedURL])
    func redirectedToNowhere(code: SessionError.Code) {
        let error = SessionError(code, "x")
        for status in [302, 303, 307] {
            let found = kind(DeliveryVerdict(error: error, statusCode: status))
            #expect(found.0 == .server && found.isTriedAgain)
        }
        #expect(
            DeliveryVerdict(error: error, statusCode: 303, isSecure: true) == .delivered(statusCode: 303))
        #expect(!kind(DeliveryVerdict(error: error, statusCode: nil)).isTriedAgain)
    }

    @Test("A proxy that wants credentials says nothing about the request")
    func proxy() {
        guard case .retry(let failure) = DeliveryVerdict(statusCode: 407) else {
            Issue.record("407 is not tried again")
            return
        }
        #expect(failure.kind == .security && failure.statusCode == 407 && failure.isPassing)
    }

    @Test("A secret that was filled in may be an old one", arguments: [401, 403])
    func staleSecret(status: Int) {
        guard case .retry(let failure) = DeliveryVerdict(statusCode: status, fillsSecrets: true) else {
            Issue.record("\(status) is not tried again")
            return
        }
        #expect(failure.kind == .credentials && failure.statusCode == status && failure.isPassing)
        let long = SessionError(.dataLengthExceedsMaximum, "x")
        #expect(
            kind(DeliveryVerdict(error: long, statusCode: status, fillsSecrets: true)).0 == .credentials)
        #expect(kind(DeliveryVerdict(statusCode: 404, fillsSecrets: true)).0 == .refused)
    }

    @Test(
        "Failures by what they are about",
        arguments: [
            (SessionError.Code.timedOut, OutboxFailure.Kind.network, true), (.cannotFindHost, .network, true),
            (.cannotConnectToHost, .network, true), (.networkConnectionLost, .network, true),
            (.notConnectedToInternet, .network, true), (.badServerResponse, .server, true),
            (.secureConnectionFailed, .security, true), (.certificateHasBadDate, .security, true),
            (.certificateNotYetValid, .security, true), (.certificateUntrusted, .security, true),
            (.clientCertificateRequired, .security, true), (.userAuthenticationRequired, .security, true),
            (.missingLibrary, .local, true),
            (.outOfResources, .local, true), (.unknown, .server, true), (.badURL, .unsendable, false),
            (.tooManyRedirects, .server, true), (.fileDoesNotExist, .unsendable, false),
            (.unsupportedURL, .unsendable, false),
            (.requestBodyStreamExhausted, .unsendable, false),
        ])
    func failures(code: SessionError.Code, expected: OutboxFailure.Kind, isTriedAgain: Bool) {
        let found = kind(DeliveryVerdict(error: SessionError(code, "x"), statusCode: nil))
        #expect(found.0 == expected && found.isTriedAgain == isTriedAgain)
    }

    @Test("What was cancelled was not tried; an answer too long to keep is an answer")
    func special() {
        #expect(DeliveryVerdict(error: SessionError(.cancelled, "x"), statusCode: nil) == .untried)
        let long = SessionError(.dataLengthExceedsMaximum, "x")
        #expect(DeliveryVerdict(error: long, statusCode: 201) == .delivered(statusCode: 201))
        #expect(kind(DeliveryVerdict(error: long, statusCode: 404)).isTriedAgain == false)
        // TLS that was not closed puts the end of an answer in doubt, not its head.
        let unclosed = SessionError(.networkConnectionLost, "x", domain: .security)
        #expect(DeliveryVerdict(error: unclosed, statusCode: 200) == .delivered(statusCode: 200))
        // A request that was sent has its answer.
        for code in [SessionError.Code.networkConnectionLost, .timedOut, .badServerResponse] {
            let cut = SessionError(code, "x")
            #expect(
                DeliveryVerdict(error: cut, statusCode: 201, isSent: true) == .delivered(statusCode: 201))
            #expect(!kind(DeliveryVerdict(error: cut, statusCode: 404, isSent: true)).isTriedAgain)
            #expect(kind(DeliveryVerdict(error: cut, statusCode: 503, isSent: true)).isTriedAgain)
            #expect(kind(DeliveryVerdict(error: cut, statusCode: nil, isSent: true)).isTriedAgain)
        }
        // With a broken connection it is unknown whether the server has the content.
        #expect(
            kind(DeliveryVerdict(error: SessionError(.networkConnectionLost, "x"), statusCode: 200))
                .isTriedAgain)
    }
}
