// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Testing

struct RulesOriginTests {
    @Test(
        "spellings of one origin are equal",
        arguments: [
            ("http://example.com/", "HTTP://EXAMPLE.com:80/path?q#f"),
            ("https://example.com:443/", "https://user:pass@ex%61mple.com/"),
            ("http://[2001:db8::1]/", "http://[2001:DB8::1]:80/"),
        ])
    func equal(_ left: String, _ right: String) throws {
        let origin = try #require(try Origin(SessionRequest(left).url))
        #expect(try Origin(SessionRequest(right).url) == origin)
    }

    @Test(
        "scheme, host and port make the difference",
        arguments: [
            "https://example.com/", "http://example.org/", "http://example.com:81/",
            "http://www.example.com/",
            "http://example.com./", "http://example.com.evil.org/", "http://example.com@evil.org/",
        ])
    func different(_ other: String) throws {
        #expect(
            try Origin(SessionRequest(other).url) != Origin(SessionRequest("http://example.com/").url))
    }

    @Test(
        "it is written as in the field Origin",
        arguments: [
            ("http://h:80/", "http://h"), ("https://h:80/", "https://h:80"),
            ("https://[::1]:8443/", "https://[::1]:8443"),
        ])
    func text(_ url: String, _ text: String) throws {
        #expect(try Origin(SessionRequest(url).url)?.description == text)
    }

    @Test(
        "an address without a possible connection has no origin",
        arguments: ["ftp://h/", "http:///x", "http://h:0/", "http://h:65536/"])
    func none(_ text: String) throws {
        #expect(try Origin(#require(URL(string: text))) == nil)
    }

    // The examples of RFC 3986 §5.4, and those of the section on base URLs.
    @Test(
        "AF-176 a reference is resolved as RFC 3986 says",
        arguments: [
            ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
            (";x", "http://a/b/c/;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"), ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
            ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
            ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
            ("g..", "http://a/b/c/g.."),
            ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"),
            ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
            ("a b", "http://a/b/c/a%20b"), ("ü?ß[]=%zz", "http://a/b/c/%C3%BC?%C3%9F%5B%5D=%25zz"),
            ("%4g/%g4/%4", "http://a/b/c/%254g/%25g4/%254"), ("\\\\evil/", "http://a/b/c/%5C%5Cevil/"),
            ("%2e%2E/x", "http://a/b/c/%2e%2E/x"),
            ("HTTPS://g", "https://g"),
        ])
    func resolution(_ reference: String, _ result: String) throws {
        let base = try SessionRequest("http://a/b/c/d;p?q").url
        #expect(URIReference(reference)?.resolved(against: base)?.absoluteString == result)
    }

    @Test("what is no reference", arguments: ["a\u{0}b", "a\u{7F}", "1x:y", ":x", "http://[::1", "//h:x/"])
    func unreadable(_ reference: String) throws {
        let base = try SessionRequest("http://a/b").url
        #expect(URIReference(reference)?.resolved(against: base) == nil)
    }
}
