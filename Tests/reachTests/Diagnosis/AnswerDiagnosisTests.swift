// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import Testing

@testable import reach

/// What the doctor says of a server's answer, from observations.
struct AnswerDiagnosisTests {
    private let url = URL(string: "https://updates.example.com/x") ?? URL(filePath: "/")

    private func exchange(_ outcome: ExchangeObservation.Outcome, ahead: Int64? = nil) -> ExchangeObservation
    {
        ExchangeObservation(outcome: outcome, clockAhead: ahead)
    }

    @Test("Redirects within the site are no portal")
    func redirects() {
        func verdict(_ location: String) -> Finding.Verdict {
            DiagnosisRules.answer(exchange(.answered(status: 301, location: location)), url: url).verdict
        }
        #expect(verdict("/y") == .good)
        #expect(verdict("https://updates.example.com/y") == .good)
        #expect(verdict("https://www.updates.example.com/y") == .good)
        #expect(verdict("https://example.com/y") == .good)
        #expect(verdict("http://login.hotel.example/") == .failed)
        #expect(
            DiagnosisRules.answer(exchange(.answered(status: 511, location: nil)), url: url).verdict
                == .failed)
        #expect(
            DiagnosisRules.answer(exchange(.answered(status: 404, location: nil)), url: url).verdict == .good)
        #expect(
            DiagnosisRules.answer(exchange(.answered(status: 503, location: nil)), url: url).verdict
                == .failed)
    }

    private func page(_ text: String, type: String? = "text/html") -> AnsweredPage? {
        AnsweredPage(Data(text.utf8), type: type)
    }

    @Test("Pages: their title, where they send to, and whose they say they are")
    func pages() throws {
        #expect(page("{}", type: "application/json") == nil)
        #expect(page("hello", type: nil) == nil)
        #expect(page(" \n<!DOCTYPE HTML><p>", type: "text/plain")?.title == "")
        let plain = try #require(
            page("<HTML><Title lang=x>\n Sign  in\n</TITLE><meta name=a content='url=b'>"))
        #expect(plain.title == "Sign in" && plain.refresh == nil && !plain.isGateway)
        #expect(page("<title>a</title")?.title == "a")
        #expect(page("<title>no end")?.title == "")
        #expect(page("<title>\(String(repeating: "x", count: 99))</title>")?.title.count == 61)
        for tag in [
            #"<meta http-equiv="refresh" content="0; url=http://login.example/">"#,
            "<META content='1;URL=http://login.example/' http-equiv=Refresh>",
            "<meta charset=utf-8><meta http-equiv=refresh content=0;url=http://login.example/>",
        ] { #expect(page(tag)?.refresh?.hasPrefix("http://login.example/") == true, "\(tag)") }
        #expect(page("<html><!--<WISPAccessGatewayParam>-->")?.isGateway == true)
    }

    @Test("An answer with status 200 in the server's place is a portal, or at least a remark")
    func answers() throws {
        let http = try #require(URL(string: "http://updates.example.com/x"))
        func finding(
            _ text: String, _ url: URL, status: Int = 200, isExpected: Bool? = nil
        ) -> Finding {
            var seen = exchange(.answered(status: status, location: nil))
            (seen.page, seen.isExpected) = (page(text, type: nil), isExpected)
            return DiagnosisRules.answer(seen, url: url)
        }
        let hotel = "<html><title>Hotel Wi-Fi</title>"
        let reported = finding(hotel, http)
        #expect(reported.verdict == .good)
        #expect(
            reported.sentence == #"updates.example.com answers with status 200, a web page: "Hotel Wi-Fi""#)
        #expect(reported.advice.contains("--probe-body"))
        #expect(
            Diagnosis(findings: [reported]).cause == nil && Diagnosis(findings: [reported]).remark == reported
        )
        // The certificate names the server that answers.
        #expect(finding(hotel, url).advice.isEmpty)
        #expect(finding("{}", http) == .good(.answer, "updates.example.com answers with status 200"))
        let refresh = hotel + "<meta http-equiv=refresh content='0;url=http://login.hotel.example/'>"
        #expect(
            finding(refresh, http).sentence
                == "updates.example.com answers with a page that sends to login.hotel.example: a captive portal"
        )
        #expect(
            finding("<html><WISPAccessGatewayParam>", http).sentence.hasSuffix("(WISPr): a captive portal"))
        // A given expectation of the answer decides.
        #expect(finding(refresh, http, isExpected: true).verdict == .good)
        let other = finding(hotel, http, isExpected: false)
        #expect(other.verdict == .failed && other.sentence.hasSuffix("which is not what it should"))
        #expect(finding("", http, status: 404, isExpected: true).sentence.hasSuffix("404, as it should"))
        #expect(finding("", http, status: 204, isExpected: false).verdict == .failed)
        #expect(finding("", http, status: 503, isExpected: false).advice.contains("fault of its own"))
    }

    @Test("What TLS refuses is asked without TLS: a portal shows there")
    func inTheClear() {
        let login = exchange(.answered(status: 302, location: "http://login.hotel.example/"))
        let refused = exchange(.unknownAuthority("nobody has signed it"))
        #expect(DiagnosisRules.mayBePortal(refused))
        #expect(!DiagnosisRules.mayBePortal(login) && !DiagnosisRules.mayBePortal(exchange(.silent)))
        #expect(DiagnosisRules.mayBePortal(exchange(.failed("the server closed the connection"))))
        #expect(DiagnosisRules.portal(login, url: url)?.isPortal == true)
        #expect(DiagnosisRules.portal(exchange(.answered(status: 200, location: nil)), url: url) == nil)
        #expect(
            DiagnosisRules.answer(refused, url: url, inTheClear: login).sentence
                == "updates.example.com sends to login.hotel.example: a captive portal")
        for other in [
            exchange(.silent), exchange(.answered(status: 301, location: "https://updates.example.com/")),
        ] {
            #expect(
                DiagnosisRules.answer(refused, url: url, inTheClear: other).sentence == "nobody has signed it"
            )
        }
    }
}
