// SPDX-License-Identifier: Apache-2.0

import SessionCore
import SessionManager
import TestSupport
import Testing

/// Heads that fit into none of libcurl's usual buffers.
struct LongHeadTests {
    @Test(
        "a head arrives wholly, however long it is; what comes after it on the same connection as well",
        arguments: [OriginListener.http, .https], [10, 17, 30, 60])
    func fields(listener: OriginListener, parts: Int) async throws {
        let lab = try await Lab { $0.maximumConnectionsPerHost = 1 }
        lab.trustOrigin()
        var request = try lab.request("/headers", at: listener)
        for number in 0..<parts {
            request.headerFields[.init("X-Part-\(number)")!] = String(repeating: "a", count: 2000)
        }
        let sent = try await lab.run(request)
        #expect(sent.error == nil)
        for number in 0..<parts {
            #expect(sent.json?["headers"]?["X-Part-\(number)"]?.string?.utf8.count == 2000)
        }
        var second = try lab.request(
            "/upload", .post, at: listener, body: .data(.init(repeating: 7, count: 300_000)))
        second.headerFields = request.headerFields
        #expect(try await lab.run(second).json?["count"]?.int == 300_000)
        #expect(try await lab.run(lab.request("/get", at: listener)).error == nil)
    }

    @Test("an address arrives wholly, however long it is", arguments: [OriginListener.http, .https])
    func address(listener: OriginListener) async throws {
        let lab = try await Lab()
        lab.trustOrigin()
        let value = String(repeating: "b", count: 60_000)
        let answer = try await lab.run(lab.request("/get?long=\(value)", at: listener))
        #expect(answer.json?["args"]?["long"]?.string == value)
    }
}

/// What the server sees of a URL, on handles that have carried out transfers of other URLs.
struct URLFormTests {
    @Test("each request goes to its own URL, with its own credentials, as it is written")
    func forms() async throws {
        let lab = try await Lab()
        let base = lab.origin.url("/anything", at: .http)
        let authority = "u%40x:p%3Aw@"
        let named = base.replacing("http://", with: "http://\(authority)", maxReplacements: 1)
        let forms: [(url: String, seen: String, credentials: String?)] = [
            ("\(base)/a", "/anything/a", nil),
            ("\(named)/b", "/anything/b", "Basic dUB4OnA6dw=="),
            ("\(base)/a", "/anything/a", nil),
            ("\(base)/c/../d/./e", "/anything/d/e", nil),
            ("\(base)/f%20g%2Fh?x=%2f&y", "/anything/f%20g%2Fh?x=%2f&y", nil),
            ("\(base)//i//?", "/anything//i//?", nil),
            ("\(base)/j#k", "/anything/j", nil),
            ("\(base)/a", "/anything/a", nil),
        ]
        for form in forms {
            let end = try await lab.run(try SessionRequest(form.url))
            let url = end.json?["url"]?.string ?? ""
            #expect(url.hasSuffix(form.seen), "\(form.url): \(url)")
            #expect(end.json?["headers"]?["Authorization"]?.string == form.credentials, "\(form.url)")
        }
    }
}
