// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Testing
import WebSockets

@Suite("Cookies of a handshake")
struct StoredCookieTests {
    private static let now: Int64 = 1_700_000_000

    private func target(_ address: String) throws -> CookieTarget {
        let url = try #require(URL(string: address))
        return try #require(CookieTarget(url))
    }

    private func cookie(_ field: String, at address: String) throws -> StoredCookie? {
        StoredCookie(field: field, of: try target(address), at: Self.now)
    }

    @Test(
        "API-333 A cookie goes where it belongs",
        arguments: [
            ("example.com\tFALSE\t/\tFALSE\t0\ta\t1", "http://example.com/x", true),
            ("example.com\tFALSE\t/\tFALSE\t0\ta\t1", "http://www.example.com/", false),
            (".example.com\tTRUE\t/\tFALSE\t0\ta\t1", "http://www.example.com/", true),
            (".example.com\tTRUE\t/\tFALSE\t0\ta\t1", "http://badexample.com/", false),
            ("example.com\tFALSE\t/\tTRUE\t0\ta\t1", "http://example.com/", false),
            ("#HttpOnly_example.com\tFALSE\t/\tTRUE\t0\ta\t1", "https://example.com/", true),
            ("example.com\tFALSE\t/live\tFALSE\t0\ta\t1", "http://example.com/live", true),
            ("example.com\tFALSE\t/live\tFALSE\t0\ta\t1", "http://example.com/live/x", true),
            ("example.com\tFALSE\t/live\tFALSE\t0\ta\t1", "http://example.com/lively", false),
            ("example.com\tFALSE\t/\tFALSE\t1699999999\ta\t1", "http://example.com/", false),
            ("example.com\tFALSE\t/\tFALSE\t1700000001\ta\t1", "http://example.com/", true),
        ])
    func matching(line: String, address: String, isSent: Bool) throws {
        let cookie = try #require(StoredCookie(line: line))
        #expect(try target(address).field([cookie], at: Self.now) == (isSent ? "a=1" : nil))
    }

    @Test("API-334 Longer paths come first")
    func order() throws {
        let cookies = ["/\tFALSE\t0\ta\t1", "/live\tFALSE\t0\tb\t2"].compactMap {
            StoredCookie(line: "example.com\tFALSE\t\($0)")
        }
        #expect(try target("http://example.com/live").field(cookies, at: Self.now) == "b=2; a=1")
    }

    @Test(
        "API-335 What a server sets is stored for its own host, as libcurl reads it",
        arguments: [
            ("a=1", "example.com\tFALSE\t/live\tFALSE\t0\ta\t1"),
            ("a=1; Path=/; Secure; HttpOnly", "#HttpOnly_example.com\tFALSE\t/\tTRUE\t0\ta\t1"),
            (
                "a=b=c; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
                "example.com\tFALSE\t/live\tFALSE\t1700000010\ta\tb=c"
            ),
            ("a=; Max-Age=0", "example.com\tFALSE\t/live\tFALSE\t1\ta\t"),
            ("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "example.com\tFALSE\t/live\tFALSE\t1\ta\t1"),
            ("a=1; Domain=com", "example.com\tFALSE\t/live\tFALSE\t0\ta\t1"), ("a=1; Domain=other.com", nil),
            ("a=1; Domain=.example.com", "example.com\tFALSE\t/live\tFALSE\t0\ta\t1"), ("=1", nil),
            ("a=1; Domain=", "example.com\tFALSE\t/live\tFALSE\t0\ta\t1"),
            ("a", nil),
            ("a=1\t2", nil),
        ] as [(String, String?)])
    func setting(field: String, line: String?) throws {
        // A domain above the host is accepted, and the host alone gets the cookie.
        let stored = try cookie(field, at: "https://example.com/live/feed")
        #expect(stored?.line == line)
        if let stored { #expect(StoredCookie(line: stored.line) == stored) }
    }

    @Test("API-336 A secure cookie is not taken from a server without TLS")
    func secure() throws {
        #expect(try cookie("a=1; Secure", at: "http://example.com/") == nil)
    }

    @Test(
        "API-591 Without TLS no secure cookie of the session is replaced or hidden (RFC 6265bis §5.7)",
        arguments: [
            ("example.com\tFALSE\t/\tTRUE\t0\ta\t1", "a=2; Path=/", true),
            (".example.com\tTRUE\t/\tTRUE\t0\ta\t1", "a=2; Path=/", true),
            ("www.example.com\tFALSE\t/\tTRUE\t0\ta\t1", "a=2; Path=/", true),
            ("example.com\tFALSE\t/\tTRUE\t0\ta\t1", "a=; Path=/; Max-Age=0", true),
            ("example.com\tFALSE\t/live\tTRUE\t0\ta\t1", "a=2; Path=/live/feed", true),
            ("example.com\tFALSE\t/live\tTRUE\t0\ta\t1", "a=2; Path=/", false),
            ("example.com\tFALSE\t/live\tTRUE\t0\ta\t1", "a=2; Path=/lively", false),
            ("example.com\tFALSE\t/\tTRUE\t0\tb\t1", "a=2; Path=/", false),
            ("example.com\tFALSE\t/\tFALSE\t0\ta\t1", "a=2; Path=/", false),
            ("example.com\tFALSE\t/\tTRUE\t1699999999\ta\t1", "a=2; Path=/", false),
            ("badexample.com\tFALSE\t/\tTRUE\t0\ta\t1", "a=2; Path=/", false),
        ])
    func overlaying(line: String, field: String, isOverlaying: Bool) throws {
        let stored = try #require(StoredCookie(line: line))
        let new = try #require(try cookie(field, at: "http://example.com/live/feed"))
        #expect(new.isOverlaying([stored], at: Self.now) == isOverlaying)
    }
}
