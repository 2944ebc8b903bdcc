// SPDX-License-Identifier: Apache-2.0

import SessionCore
import SessionManager
import TestSupport
import Testing

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
