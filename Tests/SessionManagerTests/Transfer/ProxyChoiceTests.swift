// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing

@testable import SessionManager

/// Which proxy the environment names for a URL.
struct ProxyChoiceTests {
    private func choice(_ url: String, _ environment: [String: String]) throws -> String? {
        ProxyChoice(for: try #require(URL(string: url)), environment: environment)
            .map { "\($0.variable ?? "") \($0.host) \($0.port)" }
    }

    @Test("the variable of the scheme, then the general one; capitals count, but not for http")
    func variables() throws {
        let all = [
            "http_proxy": "a:1", "https_proxy": "b:2", "HTTPS_PROXY": "c:3", "all_proxy": "d:4",
            "ALL_PROXY": "e:5",
        ]
        #expect(try choice("http://x/", all) == "http_proxy a 1")
        #expect(try choice("HTTPS://x/", all) == "https_proxy b 2")
        #expect(try choice("https://x/", ["HTTPS_PROXY": "c:3", "all_proxy": "d:4"]) == "HTTPS_PROXY c 3")
        #expect(try choice("http://x/", ["HTTP_PROXY": "c:3"]) == nil)
        #expect(try choice("http://x/", ["ALL_PROXY": "e:5"]) == "ALL_PROXY e 5")
        // Without a value it is as if it were not there.
        #expect(try choice("http://x/", ["http_proxy": "", "all_proxy": "d:4"]) == "all_proxy d 4")
        #expect(try choice("http://x/", ["http_proxy": ""]) == nil)
        #expect(try choice("http://x/", ["http_proxy": "a", "no_proxy": "", "NO_PROXY": "x"]) == nil)
    }

    @Test("what the configuration names stands before the variables, and their exceptions hold for it too")
    func configured() throws {
        let url = try #require(URL(string: "http://x/"))
        func choice(_ configured: String?, _ environment: [String: String]) -> String? {
            ProxyChoice(for: url, configured: configured, environment: environment)?.authority
        }
        #expect(choice("http://[::1]:3128", ["http_proxy": "a:1"]) == "[::1]:3128")
        #expect(choice("", ["http_proxy": "a:1"]) == nil)
        #expect(choice("p:1", ["no_proxy": "x"]) == nil)
        #expect(ProxyChoice.isPossible(configured: nil, environment: ["https_proxy": "a"]))
        #expect(!ProxyChoice.isPossible(configured: nil, environment: ["https_proxy": "", "NO_PROXY": "x"]))
        #expect(!ProxyChoice.isPossible(configured: "", environment: ["https_proxy": "a"]))
        #expect(ProxyChoice.isPossible(configured: "p", environment: [:]))
    }

    private static let malformed = "its address is malformed: an IPv6 address is written in brackets"

    @Test(
        "FLD-094 what libcurl would refuse",
        arguments: [
            ("nonsense://h:1", #""nonsense" is no kind of proxy"#), ("http://", "it names no host"),
            ("me:secret@", "it names no host"), ("http://a b:3", "it names no host"),
            ("h:65536", "its port is impossible"), ("h:x", "its port is impossible"),
            (":::", malformed), ("http://[::1", malformed), ("[::1]3128", malformed),
            ("[proxy]:1", malformed),
        ])
    func fault(_ text: String, _ fault: String) throws {
        let url = try #require(URL(string: "http://x/"))
        #expect(ProxyChoice(for: url, configured: text, environment: [:])?.fault == fault)
    }

    @Test(
        "what libcurl takes",
        arguments: [
            "h", "h:1/", "HTTP://h:1", "https://me:secret@h", "socks://h", "socks4://h:1", "socks4a://h:1",
            "socks5://[::1]:1", "socks5h://[fe80::1%25eth0]:1", "h:",
        ])
    func noFault(_ text: String) throws {
        let url = try #require(URL(string: "http://x/"))
        let choice = try #require(ProxyChoice(for: url, configured: text, environment: [:]))
        #expect(choice.fault == nil)
    }

    @Test(
        "host and port",
        arguments: [
            ("proxy", "proxy 1080"), ("proxy:3128", "proxy 3128"), ("http://proxy:3128/", "proxy 3128"),
            ("http://me:p@ss@proxy:3128", "proxy 3128"), ("https://proxy", "proxy 443"),
            ("socks5h://[2001:db8::1]:9050", "2001:db8::1 9050"), ("[::1]", "::1 1080"),
        ])
    func addresses(text: String, address: String) throws {
        #expect(try choice("http://x/", ["http_proxy": text]) == "http_proxy \(address)")
    }

    @Test(
        "exceptions",
        arguments: [
            ("example.com", true), (".example.com", true), ("com", true), ("ample.com", false), ("*", true),
            ("other, api.example.com.", true), ("api.example.com:443", false), ("", false),
            ("192.0.2.0/24", false),
        ])
    func exceptions(list: String, isDirect: Bool) throws {
        let environment = ["https_proxy": "p", "no_proxy": list]
        #expect(try (choice("https://api.example.com/", environment) == nil) == isDirect)
    }

    @Test("exceptions of addresses")
    func addresses() throws {
        func isDirect(_ url: String, _ list: String) throws -> Bool {
            try choice(url, ["http_proxy": "p", "NO_PROXY": list]) == nil
        }
        #expect(try isDirect("http://192.0.2.7/", "192.0.2.7"))
        #expect(try isDirect("http://192.0.2.7/", "localhost 192.0.2.0/24"))
        #expect(try !isDirect("http://192.0.3.7/", "192.0.2.0/24"))
        #expect(try isDirect("http://[2001:db8::7]/", "[2001:db8::7]"))
        #expect(try isDirect("http://[2001:db8::7]/", "2001:db8::/32"))
    }

    @Test(
        "what it speaks",
        arguments: [
            ("http://h:1", true), ("HTTPS://h:1", true), ("h:1", true), ("socks5h://h:1", false),
            ("socks4://h:1", false),
        ])
    func speech(_ text: String, _ speaksHTTP: Bool) throws {
        let url = try #require(URL(string: "http://a.test/"))
        #expect(ProxyChoice(for: url, configured: text, environment: [:])?.speaksHTTP == speaksHTTP)
    }
}
