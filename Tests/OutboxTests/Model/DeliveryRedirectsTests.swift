// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import Testing

@testable import Outbox

@Suite struct DeliveryRedirectsTests {
    /// Whether a redirect is followed, as proposed by the general rules.
    private func follows(
        _ url: String, _ status: Int, to location: String, by method: HTTPRequest.Method = .post,
        fields: HTTPFields = [:], secrets: [String] = []
    ) throws -> Bool {
        let body: RequestBody? = method == .get ? nil : .data(Data("x".utf8))
        let request = try SessionRequest(url, method: method, headerFields: fields, body: body)
        let response = SessionResponse(
            url: request.url, statusCode: status, headerFields: [.location: location])
        guard case .follow(let proposed) = RedirectRules().decide(request, response: response, hops: 0) else {
            Issue.record("it is no redirect")
            return false
        }
        let redirects = DeliveryRedirects(
            secrets: secrets.map { SecretField(name: $0, source: "file", key: "/t") })
        return redirects.follows(from: request, to: proposed, status: status)
    }

    @Test("What would make a GET of a POST is not followed", arguments: [301, 302, 303])
    func rewritten(status: Int) throws {
        #expect(try !follows("https://a.example/x", status, to: "/y"))
        #expect(try !follows("http://a.example/x", status, to: "https://a.example/x"))
    }

    @Test("307 and 308 are followed on the same host, and the server may send to any other by https")
    func kept() throws {
        for status in [307, 308] {
            #expect(try follows("http://a.example/x", status, to: "/x/"))
            #expect(try follows("http://a.example/x", status, to: "https://a.example/x"))
            #expect(try follows("http://a.example/x", status, to: "http://A.example:8080/x"))
            #expect(try follows("https://a.example/x", status, to: "https://b.example/x"))
            #expect(try !follows("http://a.example/x", status, to: "http://portal.example/login"))
            #expect(try !follows("http://a.example/x", status, to: "https://portal.example/login"))
            #expect(try !follows("https://a.example/x", status, to: "http://a.example/x"))
        }
    }

    @Test(
        "Other methods than POST are kept by 301 and 302; in the clear a portal answers so, and they go to https alone"
    )
    func others() throws {
        for method in [HTTPRequest.Method.get, .put, .delete] {
            for status in [301, 302] {
                #expect(try follows("https://a.example/x", status, to: "https://b.example/x", by: method))
                #expect(try follows("http://a.example/x", status, to: "https://a.example/x", by: method))
                #expect(try !follows("http://a.example/x", status, to: "/login", by: method))
                #expect(try !follows("https://a.example/x", 303, to: "/y", by: method))
            }
        }
    }

    @Test("Secrets go nowhere else, whatever their fields are called, and no request goes on without them")
    func secrets() throws {
        let name = try #require(HTTPField.Name("X-Device-Token"))
        let fields: HTTPFields = [name: "t"]
        let there = "https://b.example/x"
        #expect(
            try !follows("https://a.example/x", 307, to: there, fields: fields, secrets: ["x-device-token"]))
        #expect(
            try follows("https://a.example/x", 307, to: "/y", fields: fields, secrets: ["X-Device-Token"]))
        #expect(
            try !follows(
                "http://a.example/x", 308, to: "https://a.example/x", fields: fields,
                secrets: ["X-Device-Token"]))
        #expect(try !follows("https://a.example/x", 307, to: there, fields: [.authorization: "Bearer t"]))
        #expect(try !follows("https://u:p@a.example/x", 307, to: there))
        #expect(try follows("https://u:p@a.example/x", 307, to: "/y"))
        #expect(try follows("https://a.example/x", 307, to: there, fields: fields))
    }
}
