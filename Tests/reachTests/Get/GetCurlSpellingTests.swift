// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import reach

/// Options of `reach get` that have the meaning of curl(1)'s.
@Suite("The program: get as curl", .timeLimit(.minutes(10)))
struct GetCurlSpellingTests {
    @Test("'Name:' leaves out what would be sent otherwise, 'Name;' sends a field without a value")
    func fields() async throws {
        let lab = try await GetLab()
        let url = lab.origin.url("/raw-headers", at: .direct)
        let usual = try await lab.get(url)
        #expect(usual.text.contains("Accept: */*") && usual.text.contains("User-Agent: reach"))
        let bare = try await lab.get(
            url, "-H", "Accept:", "-H", "user-agent:", "-H", "Accept-Encoding:", "-H", "X-Empty;", "-H",
            "X-Full: 1")
        #expect(bare.code == 0)
        #expect(!bare.text.lowercased().contains("accept") && !bare.text.lowercased().contains("user-agent"))
        #expect(bare.text.contains("X-Empty:") && bare.text.contains("X-Full: 1"))
        let wrong = try await lab.get(url, "-H", "no field")
        #expect(wrong.code == 64 && wrong.errors.contains("Name;"))
    }

    @Test("--limit-rate holds downloads and uploads back")
    func rate() async throws {
        let lab = try await GetLab()
        let clock = ContinuousClock()
        let start = clock.now
        let down = try await lab.get(lab.origin.url("/bytes/400000"), "--limit-rate", "100K", "-o", "file")
        #expect(down.code == 0 && lab.content("file") == OriginContent.bytes(0..<400_000))
        #expect(clock.now - start > .seconds(2))
        try lab.write(OriginContent.bytes(0..<400_000), "body")
        let middle = clock.now
        let up = try await lab.get(lab.origin.url("/upload"), "-d", "@body", "--limit-rate", "100k")
        #expect(up.code == 0 && up.text.contains("400000"))
        #expect(clock.now - middle > .seconds(2))
    }

    @Test(
        "speeds as curl takes them",
        arguments: [("1", 1), ("200K", 204_800), ("2m", 2 << 20), ("3G", 3 << 30)])
    func speeds(_ text: String, _ number: Int64) throws {
        #expect(try Value.rate(text) == number)
    }

    @Test("a proxy that nobody can go through is wrong usage; its password is not repeated")
    func proxies() async throws {
        let lab = try await GetLab()
        let url = lab.origin.url("/bytes/10")
        for proxy in ["nonsense://me:secret@127.0.0.1:1", "http://me:secret@", "me:secret@127.0.0.1:99999"] {
            let end = try await lab.get(url, "-x", proxy)
            #expect(end.code == 64, "\(end.errors)")
            #expect(end.errors.contains("the proxy of --proxy cannot be used"), "\(end.errors)")
            #expect(end.errors.contains("socks5h://HOST:PORT") && !end.errors.contains("secret"))
        }
        #expect(try await lab.get(url, "-x", "").code == 0)
    }

    @Test("0 seconds are no limit")
    func endless() async throws {
        let lab = try await GetLab()
        let end = try await lab.get(lab.origin.url("/bytes/10"), "-m", "0", "--connect-timeout", "0")
        #expect(end.code == 0 && end.output.count == 10, "\(end.errors)")
    }

    @Test(
        "what is wrong with a URL is said",
        arguments: [
            ("ftp://host/", "only http and https"), ("host/path", "write https://host/path"),
            ("", "write https://example.com"), ("http://a b/", "%XX"), ("https://☃.example/", "spelling"),
            ("http://", "names no host"),
        ])
    func strangeURLs(_ text: String, _ advice: String) {
        #expect {
            try Value.url(text)
        } throws: {
            "\($0)".contains(advice)
        }
    }

    @Test(
        "speeds that are none",
        arguments: ["", "0", "K", "-1", "1.5M", "9999999999999999999", "8589934592G", "1X"])
    func noSpeeds(_ text: String) {
        #expect(throws: (any Error).self) { try Value.rate(text) }
    }
}
