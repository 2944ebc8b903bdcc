// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import Testing

/// What an answer, or none, says of the internet, and with which words.
struct InternetExpectationTests {
    @Test(
        "what an answer says",
        arguments: [
            (204, "", nil, 204, InternetState.full), (200, "yes, it is", "yes", 200, .full),
            (200, "<html>", "yes", 200, .portal), (200, "", "yes", 200, .portal),
            (200, "<html>", nil, 204, .portal),
            (302, "", nil, 204, .portal), (511, "", nil, 204, .portal), (403, "", nil, 204, .portal),
            (503, "", nil, 204, .limited), (500, "yes", "yes", 200, .limited),
        ])
    func judge(_ status: Int, _ body: String, _ wanted: String?, _ code: Int, _ state: InternetState) throws {
        let expectation = InternetExpectation(statusCodes: [code...code], body: wanted)
        let url = try SessionRequest("http://probe.example.com/").url
        let response = SessionResponse(url: url, statusCode: status)
        #expect(expectation.judge(response, data: .init(body.utf8), error: nil) == state)
    }

    @Test(
        "what a failure says",
        arguments: [
            (SessionError.Code.cannotFindHost, InternetState.limited), (.timedOut, .limited),
            (.cannotConnectToHost, .limited), (.networkConnectionLost, .limited),
            (.badServerResponse, .limited),
            (.certificateHasUnknownRoot, .portal), (.certificateUntrusted, .portal),
            (.certificateNotYetValid, .limited), (.certificateHasBadDate, .limited),
            (.dataLengthExceedsMaximum, .portal),
        ])
    func failure(_ code: SessionError.Code, _ state: InternetState) {
        #expect(InternetExpectation().judge(nil, data: nil, error: SessionError(code, "")) == state)
    }

    @Test("UPL-156 a failure that the clock explains is told as such, and the line is not dead")
    func clock() throws {
        let url = try SessionRequest("https://probe.example.com/ok").url
        let error = SessionError(.certificateNotYetValid, "the certificate is not valid yet")
        let answer = InternetExpectation().answer(
            nil, data: nil, error: error, url: url, timeout: .seconds(1), isForClock: true)
        #expect(answer.reason == "this machine's clock is not set: the certificate is not valid yet")
        #expect(answer.state == .limited && !answer.isSilence)
    }

    @Test(
        "UPL-065 the evidence of an answer",
        arguments: [
            (204, "", nil as String?, "204 from http://probe.example.com/ok", nil as String?),
            (503, "", nil, "503 from http://probe.example.com/ok", nil),
            (511, "", nil, "511 from http://probe.example.com/ok", nil),
            (
                302, "", "http://portal.example.net/login?mac=1",
                "redirected to http://portal.example.net/login?mac=1",
                "http://portal.example.net/login?mac=1"
            ),
            (
                302, "", "/sign-in", "redirected to http://probe.example.com/sign-in",
                "http://probe.example.com/sign-in"
            ),
            (
                302, "", "http://user:secret@portal.example.net/", "redirected to http://portal.example.net/",
                "http://user:secret@portal.example.net/"
            ),
            (302, "", "javascript:alert(1)", "302 from http://probe.example.com/ok", nil),
            (302, "", nil, "302 from http://probe.example.com/ok", nil),
        ])
    func evidence(_ status: Int, _ body: String, _ location: String?, _ reason: String, _ portal: String?)
        throws
    {
        let url = try SessionRequest("http://probe.example.com/ok").url
        var fields = HTTPFields()
        if let location { fields[.location] = location }
        let response = SessionResponse(url: url, statusCode: status, headerFields: fields)
        let answer = InternetExpectation().answer(
            response, data: .init(body.utf8), error: nil, url: url, timeout: .seconds(10))
        #expect(answer.reason == reason)
        #expect(answer.portalURL?.absoluteString == portal)
        #expect(!answer.isSilence)
    }

    @Test("UPL-065 the evidence of another content, of a silence, and of a name that is not found")
    func failures() throws {
        let url = try SessionRequest("http://user:secret@probe.example.com/ok").url
        func answer(_ code: SessionError.Code, _ timeout: Duration = .seconds(10)) -> InternetAnswer {
            InternetExpectation().answer(
                nil, data: nil, error: SessionError(code, "the words"), url: url, timeout: timeout)
        }
        #expect(answer(.timedOut) == InternetAnswer(.limited, "no answer in 10 s", isSilence: true))
        #expect(answer(.timedOut, .milliseconds(2500)).reason == "no answer in 2.5 s")
        #expect(answer(.cannotFindHost) == InternetAnswer(.limited, "no name: the words"))
        #expect(answer(.certificateUntrusted) == InternetAnswer(.portal, "the words"))
        #expect(answer(.dataLengthExceedsMaximum) == InternetAnswer(.portal, "more content than expected"))
        let other = InternetExpectation(body: "yes").answer(
            SessionResponse(url: url, statusCode: 200), data: .init("<html>".utf8), error: nil, url: url,
            timeout: .seconds(10))
        #expect(other.state == .portal)
        #expect(other.reason == "200 from http://probe.example.com/ok with another content than expected")
    }
}
