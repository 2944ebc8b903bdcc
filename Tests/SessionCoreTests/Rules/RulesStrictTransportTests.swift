// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import Testing

/// The hosts by reference: an expectation changes no value.
private final class Hosts {
    private var value = StrictTransportHosts()
    func record(_ field: StrictTransportField, of host: String, at now: Int64) -> Bool {
        value.record(field, of: host, at: now)
    }
    func preload(_ text: String) -> Bool { value.preload(text) }
    func remove(_ host: String) -> Bool { value.remove(host) }
    func removeAll() { value.removeAll() }
    func contains(_ host: String, at now: Int64) -> Bool { value.contains(host, at: now) }
    func all(at now: Int64) -> [String] { value.all(at: now) }
    func secured(_ url: URL, at now: Int64) -> URL? { value.secured(url, at: now) }
    func fileContent(at now: Int64) -> String { value.fileContent(at: now) }
    func add(fileContent text: String, at now: Int64) { value.add(fileContent: text, at: now) }
}

struct RulesStrictTransportTests {
    private func field(_ text: String) throws -> StrictTransportField {
        try #require(StrictTransportField(text), "\(text)")
    }

    /// A store that has heard this from some hosts at second 1000.
    private func hosts(_ said: (host: String, field: String)...) throws -> Hosts {
        let hosts = Hosts()
        for (host, text) in said { _ = hosts.record(try field(text), of: host, at: 1000) }
        return hosts
    }

    @Test("API-460 The field is read by its grammar: order, case, blanks, quotes, and directives of others")
    func fields() throws {
        for text in [
            "max-age=31536000; includeSubDomains", "includeSubDomains;max-age=31536000",
            "MAX-AGE=31536000 ; INCLUDESUBDOMAINS;", "max-age=\"31536000\"; includeSubdomains; preload",
            ";; max-age = 31536000 ;; includeSubDomains; other=\"a;b\\\"\"; other2=x",
        ] {
            let read = try field(text)
            #expect(read.maximumAge == 31_536_000 && read.includesSubdomains, "\(text)")
        }
        #expect(try field("max-age=0").maximumAge == 0)
        #expect(try !field("max-age=1; preload").includesSubdomains)
        // Too large for any number is a long time.
        #expect(try field("max-age=99999999999999999999999999").maximumAge > 200_000_000_000)
    }

    @Test(
        "API-460 A field that breaks the grammar, repeats a directive or has no age is no field",
        arguments: [
            "", "includeSubDomains", "max-age", "max-age=", "max-age=-1", "max-age=+1", "max-age=1.5",
            "max-age=\"\"", "max-age=\"1", "max-age=1; max-age=1", "max-age=1; Max-Age=2",
            "max-age=1; includeSubDomains; includesubdomains", "max-age=1; includeSubDomains=1",
            "max-age=1, max-age=2", "max-age=1 includeSubDomains", "max-age=1; a=", "max-age=1; ä",
            "max-age=１",
            "max-age=1; x; x",
        ])
    func brokenFields(_ text: String) { #expect(StrictTransportField(text) == nil, "\(text)") }

    @Test("API-460 A field of thousands of directives ends early")
    func longFields() {
        let many = (0..<10_000).map { "d\($0)" }.joined(separator: ";")
        #expect(StrictTransportField("max-age=1;\(many)") == nil)
    }

    @Test("API-461 A host is known by itself, or by one above it that includes those below, until its end")
    func matching() throws {
        let hosts = try hosts(
            ("Example.COM.", "max-age=100"), ("wide.example", "max-age=100; includeSubDomains"),
            ("dev", "max-age=100; includeSubDomains"))
        for (host, isKnown) in [
            ("example.com", true), ("EXAMPLE.com", true), ("example.com.", true), ("www.example.com", false),
            ("com", false), ("wide.example", true), ("a.wide.example", true), ("a.b.wide.example.", true),
            ("awide.example", false), ("example", false), ("wide.example.com", false), ("", false),
            (".", false),
            (".wide.example", false), ("a..wide.example", false), ("a.dev", true), ("dev", true),
        ] {
            #expect(hosts.contains(host, at: 1099) == isKnown, "\(host)")
            #expect(!hosts.contains(host, at: 1100), "\(host)")
        }
        #expect(hosts.all(at: 1099) == [".dev", ".wide.example", "example.com"])
        #expect(hosts.all(at: 1100) == [])
    }

    @Test("API-461 What a host says last counts; an age of 0 ends it, and not what one above it has said")
    func forgetting() throws {
        let hosts = try hosts(
            ("a.example", "max-age=100; includeSubDomains"), ("b.a.example", "max-age=100"))
        #expect(hosts.record(try field("max-age=0; includeSubDomains"), of: "b.a.example", at: 1001))
        #expect(hosts.all(at: 1001) == [".a.example"] && hosts.contains("b.a.example", at: 1001))
        #expect(hosts.record(try field("max-age=50"), of: "A.example", at: 1001))
        #expect(!hosts.contains("b.a.example", at: 1001) && hosts.contains("a.example", at: 1050))
        #expect(!hosts.contains("a.example", at: 1051))
        #expect(!hosts.record(try field("max-age=0"), of: "other.example", at: 1001))
        #expect(hosts.remove("a.example.") && !hosts.remove("a.example"))
    }

    @Test(
        "API-461 Addresses are never known, in whatever spelling",
        arguments: [
            "192.0.2.1", "192.0.2.1.", "127.1", "0x7f000001", "a.0x7F", "2130706433", "::1", "[::1]",
            "1.2.3.4.5",
        ]
    )
    func addresses(_ host: String) throws {
        let hosts = Hosts()
        #expect(!hosts.record(try field("max-age=100; includeSubDomains"), of: host, at: 1000))
        #expect(!hosts.preload(host))
        #expect(hosts.all(at: 1000) == [] && !hosts.contains(host, at: 1000))
    }

    @Test(
        "API-462 An http URL of a known host becomes https, port 80 becomes 443, all else stays",
        arguments: [
            ("http://a.example", "https://a.example"),
            ("http://a.example/x?y=http://b#z", "https://a.example/x?y=http://b#z"),
            ("HTTP://A.Example:80/", "https://A.Example:443/"),
            ("http://a.example:080?q", "https://a.example:443?q"),
            ("http://a.example:8080/x", "https://a.example:8080/x"),
            ("http://a.example:443", "https://a.example:443"),
            ("http://user:80@a.example/", "https://user:80@a.example/"),
            ("http://user:p%40@a.example:80/@:80", "https://user:p%40@a.example:443/@:80"),
            ("http://a.example./", "https://a.example./"), ("http://a.example:/", "https://a.example:443/"),
        ])
    func rewriting(_ address: String, _ expected: String) throws {
        let url = try #require(URL(string: address))
        let hosts = try hosts(("a.example", "max-age=100"))
        #expect(hosts.secured(url, at: 1000)?.absoluteString == expected)
        #expect(hosts.secured(url, at: 1100) == nil)
    }

    @Test(
        "API-462 Other URLs go as they are",
        arguments: [
            "https://a.example/", "http://b.example/", "http://192.0.2.1/", "http://[::1]:80/",
            "ftp://a.example/",
            "file:///a.example", "http:a.example", "http://b.example:80/http://a.example",
            "http://a.example@b.example/",
        ])
    func otherAddresses(_ address: String) throws {
        let hosts = try hosts(("a.example", "max-age=100; includeSubDomains"))
        #expect(hosts.secured(try #require(URL(string: address)), at: 1000) == nil)
    }

    @Test(
        "API-463 Answer after answer moves the end, and is worth a write once a day, or a tenth of a short age"
    )
    func writing() throws {
        let hosts = Hosts()
        let year = try field("max-age=31536000")
        #expect(hosts.record(year, of: "a.example", at: 1000))
        #expect(!hosts.record(year, of: "a.example", at: 1000 + 86_400))
        #expect(hosts.contains("a.example", at: 31_537_000 + 86_399))
        #expect(hosts.record(year, of: "a.example", at: 1000 + 86_401))
        #expect(hosts.record(try field("max-age=31536000; includeSubDomains"), of: "a.example", at: 90_000))
        let short = try field("max-age=100")
        #expect(hosts.record(short, of: "b.example", at: 1000))
        #expect(!hosts.record(short, of: "b.example", at: 1010))
        #expect(hosts.record(short, of: "b.example", at: 1011))
        // A clock before 1970, and an end beyond every date.
        #expect(hosts.record(try field("max-age=999999999999999"), of: "c.example", at: .min))
        #expect(hosts.contains("c.example", at: .max - 1))
    }

    @Test("API-463 A thousand hosts are learned; another one finds room only where the time of one is over")
    func capacity() throws {
        let hosts = Hosts()
        for number in 0..<StrictTransportHosts.capacity {
            let age = number == 7 ? "max-age=10" : "max-age=1000"
            #expect(hosts.record(try field(age), of: "h\(number).example", at: 1000))
        }
        #expect(!hosts.record(try field("max-age=1000"), of: "new.example", at: 1009))
        #expect(!hosts.contains("new.example", at: 1009) && hosts.contains("h0.example", at: 1009))
        // Those that are known are heard.
        #expect(hosts.record(try field("max-age=5000"), of: "h1.example", at: 1009))
        #expect(hosts.record(try field("max-age=5000; includeSubDomains"), of: "h2.example", at: 1009))
        #expect(hosts.record(try field("max-age=1000"), of: "new.example", at: 1010))
        #expect(hosts.contains("new.example", at: 1010) && !hosts.contains("h7.example", at: 1010))
    }

    @Test("API-463 Preloaded hosts never end, and no host of theirs changes that")
    func preloaded() throws {
        let hosts = Hosts()
        #expect(
            hosts.preload("a.example") && hosts.preload(".Wide.example.") && hosts.preload("wide.example"))
        for text in ["", ".", "..a", "a b", "a/b", "ä.example"] { #expect(!hosts.preload(text), "\(text)") }
        #expect(hosts.contains("a.example", at: .max) && !hosts.contains("b.a.example", at: 0))
        #expect(hosts.contains("x.y.wide.example", at: 0))
        #expect(!hosts.record(try field("max-age=0"), of: "a.example", at: 0))
        hosts.removeAll()
        #expect(hosts.all(at: 0) == [".wide.example", "a.example"])
        #expect(!hosts.fileContent(at: 0).contains("example"))
    }

    @Test("API-464 The file has the format of curl's, and comes back as it was")
    func file() throws {
        let hosts = try hosts(
            ("b.example", "max-age=1577786400; includeSubDomains"), ("a.example", "max-age=99999999999999"),
            ("over.example", "max-age=1"))
        let text = hosts.fileContent(at: 2000)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines == ["a.example \"unlimited\"", ".b.example \"20191231 10:16:40\""])
        let read = Hosts()
        read.add(fileContent: text, at: 2000)
        #expect(read.fileContent(at: 2000) == text)
        #expect(
            read.contains("x.b.example", at: 1_577_787_399) && !read.contains("b.example", at: 1_577_787_400))
        #expect(!read.record(try field("max-age=1577786400; includeSubDomains"), of: "b.example", at: 1000))
        #expect(read.contains("a.example", at: .max - 1))
    }

    @Test("API-464 A damaged file loses its damaged lines, and no others")
    func damagedFile() {
        let hosts = Hosts()
        let text = """
            # comment "20300101 00:00:00"
            good.example "20300101 00:00:00"\r
              \t.indented.example \t "20300101 00:00:00" \t

            past.example "19990101 00:00:00"
            no-date.example
            no-quotes.example 20300101 00:00:00
            half.example "20300101 00:0
            month.example "20301301 00:00:00"
            day.example "20300132 00:00:00"
            text.example "Tue, 01 Jan 2030"
            more.example "20300101 00:00:00" more
            192.0.2.1 "20300101 00:00:00"
            a b.example "20300101 00:00:00"
            \u{0}\u{FFFD} "20300101 00:00:00"
            good.example "20290101 00:00:00"
            .good.example "20280101 00:00:00"
            last.example "unlimited"
            """
        hosts.add(fileContent: text, at: 1_700_000_000)
        #expect(hosts.all(at: 1_700_000_000) == [".good.example", ".indented.example", "last.example"])
        #expect(hosts.contains("good.example", at: 1_893_455_999))
        hosts.add(fileContent: (0..<3000).map { "h\($0).example \"unlimited\"\n" }.joined(), at: 0)
        #expect(hosts.all(at: 0).count == StrictTransportHosts.capacity)
    }

    @Test(
        "API-465 A redirect to http of a known host goes by https: no downgrade, its secrets stay with their origin"
    )
    func redirects() throws {
        let hosts = try hosts(("a.example", "max-age=100"), ("b.example", "max-age=100"))
        var request = try SessionRequest("https://a.example/")
        request.headerFields[.authorization] = "Bearer 1"
        var rules = RedirectRules()
        rules.followsToInsecure = false
        func target(_ location: String) throws -> SessionRequest? {
            let response = SessionResponse(
                url: request.url, statusCode: 302, headerFields: [.location: location])
            let decision = rules.decide(request, response: response, hops: 0) { hosts.secured($0, at: 1000) }
            if case .follow(let next) = decision { return next }
            return nil
        }
        let home = try #require(try target("http://a.example/x"))
        #expect(home.url.absoluteString == "https://a.example/x")
        #expect(home.headerFields[.authorization] == "Bearer 1")
        let other = try #require(try target("http://b.example:80/x"))
        #expect(other.url.absoluteString == "https://b.example:443/x")
        #expect(other.headerFields[.authorization] == nil)
        #expect(try target("http://c.example/") == nil)
        rules.followsToInsecure = true
        #expect(try target("http://c.example/")?.url.absoluteString == "http://c.example/")
    }
}
