// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Testing

/// Names of hosts in other letters than ASCII's; libcurl's package brings libidn2 along.
@Suite("International hosts") struct InternationalHostTests {
    @Test(
        "FLD-039 an international host becomes its A-label in a URL that is written",
        arguments: [
            ("https://bücher.example/", "https://xn--bcher-kva.example/"),
            ("https://BÜCHER.example:8443/a?b", "https://xn--bcher-kva.example:8443/a?b"),
            ("https://b%C3%BCcher.example/", "https://xn--bcher-kva.example/"),
            ("http://u:p@日本語。jp/x@y", "http://u:p@xn--wgv71a119e.jp/x@y"),
            ("http://faß.de", "http://xn--fa-hia.de"), ("http://[::1]/%C3%BC", "http://[::1]/%C3%BC"),
            ("http://example.com/%C3%BC", "http://example.com/%C3%BC"),
        ])
    func spoken(text: String, expected: String) throws {
        #expect(try URL(spoken: text).absoluteString == expected)
    }

    @Test("FLD-039 what is no name is told, also where mapping makes a slash of a letter")
    func invalid() {
        for text in ["http://☃.net/", "http://a／b.com/", "http://-ö.de/", "http://ö@/"] {
            #expect(throws: SessionError.self, "\(text)") { try URL(spoken: text) }
        }
        #expect { try InternationalHost.ascii("-ö.de") } throws: { "\($0)".contains("hyphen") }
    }

    @Test("FLD-039 a redirect and a reference lead to the A-label, and both spellings are one origin")
    func origins() throws {
        let base = try URL(spoken: "https://a.example/x")
        let written = try #require(URIReference("//bücher.example/y")?.resolved(against: base))
        #expect(written.absoluteString == "https://xn--bcher-kva.example/y")
        let given = try #require(URL(string: "https://bücher.example/y"))
        #expect(try given.withASCIIHost == written)
        #expect(Origin(given) == Origin(written))
        #expect(URIReference("//☃.net/y")?.resolved(against: base) == nil)
    }
}
