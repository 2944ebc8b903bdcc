// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import Testing

struct RulesCacheTests {
    private typealias Fixture = CacheFixture

    @Test(
        "what may be stored",
        arguments: [
            (200, ["cache-control": "max-age=60"], true), (200, ["etag": "\"1\""], true),
            (200, ["last-modified": "M"], true),
            (200, ["expires": "L"], true), (200, ["expires": "0"], false),
            (200, ["cache-control": "max-age=0"], false),
            (200, [:], false), (200, ["cache-control": "no-store, max-age=60"], false),
            (200, ["cache-control": "no-cache, max-age=60"], false),
            (200, ["cache-control": "no-cache", "etag": "\"1\""], true),
            (200, ["cache-control": "private, max-age=60"], true),
            (200, ["cache-control": "max-age=60", "vary": "*"], false),
            (200, ["cache-control": "max-age=60", "vary": "accept, *"], false),
            (200, ["cache-control": "max-age=60", "vary": "accept"], true),
            (206, ["cache-control": "max-age=60"], false), (304, ["cache-control": "max-age=60"], false),
            (404, ["cache-control": "max-age=60"], true), (404, ["etag": "\"1\""], true),
            (500, ["cache-control": "max-age=60"], false),
            (302, ["cache-control": "max-age=60"], true), (302, ["etag": "\"1\""], false),
            (302, ["etag": "\"1\"", "expires": "L"], true),
            (401, ["cache-control": "max-age=60"], false), (301, ["etag": "\"1\""], true),
            (200, ["cache-control": "s-maxage=60"], false),
        ] as [(Int, [String: String], Bool)])
    func storable(_ status: Int, _ pairs: [String: String], _ expected: Bool) throws {
        let times = ["M": Fixture.text(-1000), "L": Fixture.text(1000)]
        let response = try Fixture.response(pairs.mapValues { times[$0] ?? $0 }, status: status)
        #expect(CacheRules.isStorable(try Fixture.request(), response, at: Fixture.start) == expected)
    }

    @Test("the responses to some requests are not stored")
    func unstorableRequests() throws {
        let response = try Fixture.response(["cache-control": "max-age=60"])
        for request in try [
            Fixture.request(method: .post), Fixture.request(method: .head),
            Fixture.request(["range": "bytes=0-1"]),
            Fixture.request(["if-none-match": "\"1\""]), Fixture.request(["cache-control": "no-store"]),
        ] {
            #expect(!CacheRules.isStorable(request, response, at: Fixture.start))
        }
        var request = try Fixture.request()
        request.body = .data(Data())
        #expect(!CacheRules.isStorable(request, response, at: Fixture.start))
    }

    @Test(
        "for how long a response is fresh",
        arguments: [
            (["cache-control": "max-age=60"], 60), (["cache-control": "max-age=60", "expires": "900"], 60),
            (["date": "0", "expires": "900"], 900), (["date": "-100", "expires": "900"], 1000),
            (["expires": "900"], 900),
            (["expires": "-5"], 0), (["expires": "0x"], 0), (["date": "0", "last-modified": "-1000"], 100),
            (["date": "0", "last-modified": "-99999999"], 86_400),
            (["date": "0", "last-modified": "1000"], 0), ([:], 0),
            (["cache-control": "max-age=x", "expires": "900"], 0),
        ] as [([String: String], Int64)])
    func lifetime(_ pairs: [String: String], _ expected: Int64) throws {
        let entry = try Fixture.entry(dated(pairs))
        #expect(CacheFreshness(entry, at: Fixture.start).lifetime == expected)
    }

    /// Numbers in fields of dates become the moment so many seconds from the start.
    private func dated(_ pairs: [String: String]) -> [String: String] {
        var result: [String: String] = [:]
        for (name, value) in pairs {
            let isDate = ["date", "expires", "last-modified"].contains(name)
            result[name] = isDate ? Int(value).map { Fixture.text($0) } ?? value : value
        }
        return result
    }

    @Test("only statuses that are known to last are fresh by guess")
    func heuristicStatuses() throws {
        for (status, expected) in [(200, 100), (404, 100), (302, 0)] {
            let entry = try Fixture.entry(dated(["date": "0", "last-modified": "-1000"]), status: status)
            #expect(CacheFreshness(entry, at: Fixture.start).lifetime == Int64(expected))
        }
    }

    @Test(
        "how old a response is (RFC 9111 §4.2.3)",
        arguments: [
            ([:], 0, 10, 10), (["date": "0"], 0, 10, 10), (["date": "-30"], 0, 10, 40),
            (["date": "30"], 0, 10, 10),
            (["age": "20"], 0, 10, 30), (["age": "20"], 5, 10, 35),
            (["age": "20", "date": "-100"], 5, 10, 110),
            (["age": "-1"], 0, 10, 10), (["age": "x"], 0, 10, 10), ([:], 7, 0, 7),
        ] as [([String: String], Int, Int, Int64)])
    func age(_ pairs: [String: String], _ delay: Int, _ after: Int, _ expected: Int64) throws {
        let entry = try Fixture.entry(dated(pairs), delay: delay)
        #expect(CacheFreshness(entry, at: Fixture.at(after)).age == expected)
        let response = entry.response(to: try Fixture.request(), at: Fixture.at(after))
        #expect(response.value(forHeader: "age") == "\(expected)")
    }

    @Test(
        "API-596 an age beyond all numbers is a long one, and of a list the first counts",
        arguments: [
            ("99999999999999999999", 1 << 31), ("61, 2", 61), ("61 ,x", 61), ("x, 61", 0), ("61x", 0),
            ("+61", 0), ("", 0),
        ] as [(String, Int64)])
    func receivedAge(_ age: String, _ expected: Int64) throws {
        let entry = try Fixture.entry(["cache-control": "max-age=60", "age": age])
        #expect(CacheFreshness(entry, at: Fixture.start).age == expected)
    }

    @Test("a clock that was set back makes everything stale")
    func clockSetBack() throws {
        let entry = try Fixture.entry(["cache-control": "max-age=60", "etag": "\"1\""])
        let decision = CacheRules.decide(try Fixture.request(), entry: entry, at: Fixture.at(-1))
        #expect(Fixture.name(decision) == "confirm \"1\"")
    }

    @Test(
        "what a request gets, by the directives of response and request and by age",
        arguments: [
            ("max-age=60", "", 59, "use"), ("max-age=60", "", 60, "confirm \"1\""),
            ("no-cache, max-age=60", "", 0, "confirm \"1\""),
            ("max-age=60", "no-cache", 0, "confirm \"1\""), ("max-age=60", "max-age=10", 10, "use"),
            ("max-age=60", "max-age=10", 11, "confirm \"1\""),
            ("max-age=60", "max-age=0", 1, "confirm \"1\""), ("max-age=60, immutable", "max-age=0", 1, "use"),
            ("max-age=60, immutable", "", 60, "confirm \"1\""),
            ("max-age=60, immutable", "no-cache", 1, "confirm \"1\""),
            ("max-age=60", "min-fresh=20", 40, "use"), ("max-age=60", "min-fresh=20", 41, "confirm \"1\""),
            ("max-age=60", "max-stale", 99_999, "use"), ("max-age=60", "max-stale=10", 69, "use"),
            ("max-age=60", "max-stale=10", 70, "confirm \"1\""),
            ("max-age=60, must-revalidate", "max-stale", 60, "confirm \"1\""),
            ("no-cache", "max-stale", 0, "confirm \"1\""),
            ("max-age=60, stale-while-revalidate=10", "", 69, "use and confirm"),
            ("max-age=60, stale-while-revalidate=10", "", 70, "confirm \"1\""),
            ("max-age=60, stale-while-revalidate=10, must-revalidate", "", 60, "confirm \"1\""),
            ("max-age=60, stale-while-revalidate=10", "no-cache", 60, "confirm \"1\""),
            ("max-age=60, stale-while-revalidate=10", "max-age=5", 60, "confirm \"1\""),
            ("max-age=60, stale-if-error=10", "", 69, "confirm \"1\" or stale"),
            ("max-age=60, stale-if-error=10", "", 70, "confirm \"1\""),
            ("max-age=60", "stale-if-error=10", 69, "confirm \"1\" or stale"),
            ("max-age=60, must-revalidate", "stale-if-error=10", 69, "confirm \"1\""),
            ("max-age=60", "only-if-cached", 59, "use"),
            ("max-age=60", "only-if-cached", 60, "unavailable -1008"),
            ("max-age=60", "only-if-cached, max-stale", 60, "use"),
            ("max-age=60", "no-store", 0, "confirm \"1\""),
            ("max-age=60, stale-while-revalidate=10", "only-if-cached", 60, "unavailable -1008"),
        ] as [(String, String, Int, String)])
    func decisions(_ control: String, _ wishes: String, _ age: Int, _ expected: String) throws {
        let entry = try Fixture.entry(["cache-control": control, "etag": "\"1\""])
        let request = try Fixture.request(wishes.isEmpty ? [:] : ["cache-control": wishes])
        #expect(Fixture.name(CacheRules.decide(request, entry: entry, at: Fixture.at(age))) == expected)
    }

    @Test(
        "the five policies, with a fresh entry, a stale one and none",
        arguments: [
            (CachePolicy.useProtocolCachePolicy, "use", "confirm \"1\"", "load"),
            (.reloadIgnoringLocalCacheData, "load", "load", "load"),
            (.returnCacheDataElseLoad, "use", "use", "load"),
            (.returnCacheDataDontLoad, "use", "use", "unavailable -1008"),
            (.reloadRevalidatingCacheData, "confirm \"1\"", "confirm \"1\"", "load"),
        ] as [(CachePolicy, String, String, String)])
    func policies(_ policy: CachePolicy, _ fresh: String, _ stale: String, _ none: String) throws {
        let entry = try Fixture.entry(["cache-control": "max-age=60, must-revalidate", "etag": "\"1\""])
        let request = try Fixture.request(policy: policy)
        #expect(Fixture.name(CacheRules.decide(request, entry: entry, at: Fixture.at(1))) == fresh)
        #expect(Fixture.name(CacheRules.decide(request, entry: entry, at: Fixture.at(100))) == stale)
        #expect(Fixture.name(CacheRules.decide(request, entry: nil, at: Fixture.at(1))) == none)
    }

    @Test("requests that go past the cache")
    func bypassing() throws {
        let entry = try Fixture.entry(["cache-control": "max-age=60", "etag": "\"1\""])
        for request in try [
            Fixture.request(method: .post), Fixture.request(method: .head),
            Fixture.request(["range": "bytes=0-"]),
            Fixture.request(["if-modified-since": Fixture.text(0)]), Fixture.request(url: "http://h/other"),
        ] {
            #expect(Fixture.name(CacheRules.decide(request, entry: entry, at: Fixture.at(1))) == "load")
        }
    }

    @Test("validators: both are sent, the date alone, and without one the whole is asked for")
    func validators() throws {
        for (pairs, expected) in [
            (["etag": "W/\"1\"", "last-modified": "M"], "confirm W/\"1\" by date"),
            (["last-modified": "M"], "confirm - by date"), ([:], "load"),
        ] {
            let entry = try Fixture.entry(pairs.merging(["cache-control": "max-age=0"]) { $1 })
            #expect(
                Fixture.name(CacheRules.decide(try Fixture.request(), entry: entry, at: Fixture.at(1)))
                    == expected)
        }
    }

    @Test(
        "keys: without fragment, user and password; one spelling of an origin",
        arguments: [
            ("HTTP://H:80/a?b#c", "http://h/a?b"), ("http://me:pw@h/a", "http://h/a"),
            ("http://h", "http://h/"), ("http://h?x", "http://h/?x"),
            ("https://h:80/", "https://h:80/"),
        ])
    func keys(_ url: String, _ key: String) throws {
        #expect(CacheEntry.key(for: try SessionRequest(url).url) == key)
    }

    @Test(
        "API-593 a `Host` that names another server is part of the key",
        arguments: [
            ("", "http://h:8080/a"), ("h:8080", "http://h:8080/a"), ("H:8080", "http://h:8080/a"),
            ("One.example", "http://h:8080/a one.example"), ("h", "http://h:8080/a h"),
        ])
    func hostKeys(_ host: String, _ key: String) throws {
        let request = try Fixture.request(["host": host], url: "http://h:8080/a")
        #expect(CacheEntry.key(for: request) == key)
    }

    @Test("API-593 what one server has answered is neither another's answer nor removed by it")
    func hosts() throws {
        let requests = try [["host": "one.example"], ["host": "two.example"], [:]].map {
            try Fixture.request($0)
        }
        for (index, asked) in requests.enumerated() {
            let entry = try Fixture.entry(["cache-control": "max-age=60"], request: asked)
            for (other, request) in requests.enumerated() {
                let decision = CacheRules.decide(request, entry: entry, at: Fixture.at(1))
                #expect(Fixture.name(decision) == (index == other ? "use" : "load"))
                var change = request
                change.method = .post
                let removed = CacheRules.invalidated(by: change, try Fixture.response(["location": "/x"]))
                #expect(removed.contains(entry.key) == (index == other))
            }
        }
    }
}
