// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import Testing

/// What a network says of its own page to sign in (RFC 8908, RFC 8910).
struct CaptivePortalTests {
    private func portal(
        _ text: String, status: Int = 200, kind: String = "application/captive+json"
    ) throws -> CaptivePortal? {
        let response = SessionResponse(
            url: try #require(URL(string: "https://portal.example/api")), statusCode: status,
            headerFields: [.contentType: kind])
        return CaptivePortal(response, Data(text.utf8))
    }

    @Test("UPL-276 The answer of a network: whether a user has to sign in, and where")
    func answer() throws {
        let whole = try portal(
            #"{"captive":true,"user-portal-url":"https://portal.example/login","venue-info-url":"https://v.example","seconds-remaining":7}"#,
            kind: "Application/Captive+JSON; charset=utf-8")
        #expect(whole?.isCaptive == true)
        #expect(whole?.signInURL?.absoluteString == "https://portal.example/login")
        #expect(try portal(#"{"captive":false}"#) == CaptivePortal(isCaptive: false))
        // An address that no browser opens is none.
        for url in ["javascript:alert(1)", "file:///etc/passwd", "", "portal", "https://"] {
            let reported = try portal(#"{"captive":true,"user-portal-url":"\#(url)"}"#)
            #expect(reported == CaptivePortal(isCaptive: true), "\(url)")
        }
    }

    @Test(
        "UPL-277 What is no such answer says nothing",
        arguments: [
            #"{"captive":"true"}"#, #"{"captive":1}"#, "{}", "[]", "", "<html>", #"{"captive":true"#,
        ])
    func nonsense(text: String) throws { #expect(try portal(text) == nil) }

    @Test("UPL-277 Neither does another status, another media type, or more than an answer has")
    func other() throws {
        let text = #"{"captive":true}"#
        #expect(try portal(text) != nil)
        #expect(try portal(text, status: 404) == nil)
        #expect(try portal(text, kind: "text/html") == nil)
        #expect(try portal(text + String(repeating: " ", count: 16 << 10)) == nil)
        #expect(CaptivePortal(nil, nil) == nil)
    }

    @Test("UPL-278 Only https is asked, and the word for no portal is no address")
    func address() {
        #expect(CaptivePortal.address("https://portal.example/api")?.host() == "portal.example")
        for text in [
            "http://portal.example/api", "urn:ietf:params:capport:unrestricted", "https://", "portal.example",
            "",
            "https://portal.example/" + String(repeating: "a", count: 2048), nil,
        ] {
            #expect(CaptivePortal.address(text) == nil, "\(text ?? "nil")")
        }
    }

    @Test("UPL-279 The network's word adds the address, and makes a portal of silence; it takes nothing away")
    func joined() throws {
        let login = try #require(URL(string: "https://portal.example/login"))
        let other = try #require(URL(string: "http://192.0.2.1/"))
        let captive = CaptivePortal(isCaptive: true, signInURL: login)
        let found = InternetAnswer(.portal, "302 from here", portalURL: other)
        let words = "; sign in at https://portal.example/login"
        #expect(
            found.joined(with: captive)
                == InternetAnswer(.portal, "302 from here" + words, portalURL: login))
        // Not said twice.
        let same = InternetAnswer(.portal, "redirected to \(login)", portalURL: login)
        #expect(same.joined(with: captive) == same)
        #expect(found.joined(with: CaptivePortal(isCaptive: true)) == found)
        #expect(found.joined(with: CaptivePortal(isCaptive: false, signInURL: login)) == found)
        #expect(found.joined(with: nil) == found)
        let silent = InternetAnswer(.limited, "no answer in 10 s", isSilence: true)
        let reported = silent.joined(with: captive)
        #expect(reported.state == .portal && reported.portalURL == login && !reported.isSilence)
        #expect(reported.reason == "the network says that a sign-in is missing; no answer in 10 s" + words)
        #expect(silent.joined(with: nil) == silent)
        #expect(InternetAnswer(.full).joined(with: captive) == InternetAnswer(.full))
    }
}
