// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import TestSupport
import Testing

struct RulesCacheUpdateTests {
    private typealias Fixture = CacheFixture

    private func name(_ request: SessionRequest, _ entry: CacheEntry) -> String {
        Fixture.name(CacheRules.decide(request, entry: entry, at: Fixture.at(1)))
    }

    @Test("Vary: the same values of the named fields, else it is another response")
    func vary() throws {
        let pairs = ["cache-control": "max-age=60", "vary": "Accept-Language, X-Kind"]
        let entry = try Fixture.entry(
            pairs, request: Fixture.request(["accept-language": "de", "other": "1"]))
        #expect(name(try Fixture.request(["Accept-Language": "de"]), entry) == "use")
        #expect(name(try Fixture.request(["accept-language": "de", "other": "2"]), entry) == "use")
        #expect(name(try Fixture.request(["accept-language": "fr"]), entry) == "load")
        #expect(name(try Fixture.request(), entry) == "load")
        #expect(name(try Fixture.request(["accept-language": "de", "x-kind": ""]), entry) == "load")
    }

    @Test("content that was stored decoded is not handed to requests that want it raw")
    func decoding() throws {
        let entry = try Fixture.entry(["cache-control": "max-age=60"])
        var request = try Fixture.request()
        request.options.decompressesContent = false
        #expect(name(request, entry) == "load")
    }

    @Test("other credentials: nothing without the server's word")
    func credentials() throws {
        let pairs = ["cache-control": "max-age=60", "etag": "\"1\"", "vary": "authorization, x-api-key"]
        let mine = try Fixture.request(["authorization": "Bearer mine", "x-api-key": "s3cret"])
        let entry = try Fixture.entry(pairs, request: mine)
        #expect(name(mine, entry) == "use")
        for other in try [
            Fixture.request(["authorization": "Bearer other", "x-api-key": "s3cret"]),
            Fixture.request(["x-api-key": "s3cret"]),
            Fixture.request(["authorization": "Bearer mine", "x-api-key": "other"]),
            Fixture.request(
                ["authorization": "Bearer mine", "x-api-key": "s3cret"], url: "http://me:pw@h/x"),
        ] { #expect(name(other, entry) == "confirm \"1\"") }
        let always = try Fixture.request(["authorization": "Bearer other"], policy: .returnCacheDataDontLoad)
        #expect(name(always, entry) == "unavailable -1008")
        let plain = try Fixture.entry(["cache-control": "max-age=60"])
        #expect(name(mine, plain) == "load")
        let bytes = CacheRecord.head(entry, contentChecksum: 0)
        #expect(!String(decoding: bytes, as: UTF8.self).contains("s3cret"))
        #expect(!String(decoding: bytes, as: UTF8.self).contains("mine"))
    }

    @Test(
        "other credentials: a date says nothing of whose content it is, nor does a weak tag",
        arguments: [
            (["etag": "\"1\"", "last-modified": "M"], "confirm \"1\""), (["last-modified": "M"], "load"),
            (["etag": "W/\"1\"", "last-modified": "M"], "load"), (["etag": "1"], "load"),
        ])
    func foreignValidators(_ pairs: [String: String], _ expected: String) throws {
        let pairs = pairs.mapValues { $0 == "M" ? Fixture.text(-1000) : $0 }
            .merging(["cache-control": "no-cache"]) { $1 }
        let mine = try Fixture.request(["authorization": "Bearer mine"])
        let entry = try Fixture.entry(pairs, request: mine)
        for policy in [CachePolicy.useProtocolCachePolicy, .reloadRevalidatingCacheData] {
            let other = try Fixture.request(["authorization": "Bearer other"], policy: policy)
            #expect(name(other, entry) == expected)
        }
        #expect(name(mine, entry).hasPrefix("confirm"))
    }

    @Test("the answer to another user's HEAD says nothing about what is stored")
    func foreignHead() throws {
        let mine = try Fixture.request(["authorization": "Bearer mine"])
        let entry = try Fixture.entry(
            ["cache-control": "max-age=60", "last-modified": Fixture.text(-1000)], request: mine)
        let other = try Fixture.request(["authorization": "Bearer other"])
        let updated = CacheRules.updated(
            entry, for: other, byHead: try Fixture.response(["x-new": "1"]), requestDate: Fixture.at(1),
            responseDate: Fixture.at(2))
        #expect(updated == entry)
    }

    @Test("what varies by cookies is confirmed each time: the session adds them later")
    func cookies() throws {
        let entry = try Fixture.entry(["cache-control": "max-age=60", "etag": "\"1\"", "vary": "Cookie"])
        #expect(name(try Fixture.request(), entry) == "confirm \"1\"")
    }

    @Test("cookies and fields of the connection are not stored")
    func fields() throws {
        let entry = try Fixture.entry([
            "etag": "\"1\"", "set-cookie": "sid=1", "connection": "x-hop, close", "x-hop": "1",
            "transfer-encoding": "chunked", "x-end": "2",
        ])
        #expect(entry.response.headerFields.map(\.name.canonicalName).sorted() == ["etag", "x-end"])
    }

    private func validate(
        _ entry: CacheEntry, _ pairs: [String: String], status: Int = 304, mayUseStale: Bool = false
    ) throws
        -> CacheValidation
    {
        CacheRules.validate(
            entry, for: try Fixture.request(["authorization": "new"]),
            with: try Fixture.response(pairs, status: status),
            mayUseStale: mayUseStale, requestDate: Fixture.at(90), responseDate: Fixture.at(100))
    }

    @Test("304: the fields of the answer replace the stored ones, but for those that describe the bytes")
    func merging() throws {
        let entry = try Fixture.entry([
            "cache-control": "max-age=60", "etag": "\"1\"", "content-type": "a/b", "content-length": "5",
            "x-old": "1", "x-both": "old",
            "age": "50", "date": Fixture.text(0),
        ])
        guard
            case .confirmed(let new) = try validate(
                entry,
                [
                    "cache-control": "max-age=600", "etag": "W/\"1\"", "content-type": "c/d",
                    "content-length": "0", "x-both": "new",
                    "set-cookie": "a=1", "date": Fixture.text(100),
                ])
        else {
            Issue.record("not confirmed")
            return
        }
        let fields = new.response.headerFields
        #expect(fields[.contentType] == "a/b")
        #expect(fields[.contentLength] == "5")
        #expect(fields[.cacheControl] == "max-age=600")
        #expect(
            fields.filter { $0.name.canonicalName.hasPrefix("x-") }.map {
                "\($0.name.canonicalName) \($0.value)"
            } == ["x-old 1", "x-both new"])
        #expect(fields[.age] == nil)
        #expect(fields[.setCookie] == nil)
        #expect(new.response.statusCode == 200)
        #expect(CacheFreshness(new, at: Fixture.at(100)) == CacheFreshness(new, at: Fixture.at(100)))
        #expect(CacheFreshness(new, at: Fixture.at(101)).age == 11)
        #expect(CacheFreshness(new, at: Fixture.at(101)).lifetime == 600)
        // From now on it is the new credential's.
        #expect(
            Fixture.name(
                CacheRules.decide(
                    try Fixture.request(["authorization": "new"]), entry: new, at: Fixture.at(101))) == "use")
        #expect(
            Fixture.name(CacheRules.decide(try Fixture.request(), entry: new, at: Fixture.at(101)))
                == "load")
    }

    @Test(
        "answers that do not confirm",
        arguments: [
            (304, ["etag": "\"2\""], false, "reload"), (304, [:], false, "confirmed"),
            (200, [:], false, "replaced"), (200, [:], true, "replaced"),
            (500, [:], false, "replaced"), (500, [:], true, "stale"), (502, [:], true, "stale"),
            (503, [:], true, "stale"), (504, [:], true, "stale"),
            (501, [:], true, "replaced"), (404, [:], true, "replaced"),
        ] as [(Int, [String: String], Bool, String)])
    func otherAnswers(_ status: Int, _ pairs: [String: String], _ mayUseStale: Bool, _ expected: String)
        throws
    {
        let entry = try Fixture.entry(["etag": "\"1\""])
        let word: String =
            switch try validate(entry, pairs, status: status, mayUseStale: mayUseStale) {
            case .confirmed: "confirmed"
            case .useStale: "stale"
            case .replaced: "replaced"
            case .reload: "reload"
            }
        #expect(word == expected)
    }

    @Test(
        "a HEAD refreshes the entry, or shows that it is outdated",
        arguments: [
            (200, ["etag": "\"1\"", "x": "new"], "new"), (200, ["etag": "\"2\""], nil),
            (200, ["content-length": "6"], nil),
            (200, ["last-modified": "other"], nil), (404, ["x": "new"], "old"),
            (200, ["content-length": "5", "x": "new"], "new"),
        ] as [(Int, [String: String], String?)])
    func head(_ status: Int, _ pairs: [String: String], _ expected: String?) throws {
        let entry = try Fixture.entry(["etag": "\"1\"", "content-length": "5", "x": "old"])
        let new = CacheRules.updated(
            entry, for: try Fixture.request(method: .head),
            byHead: try Fixture.response(pairs, status: status),
            requestDate: Fixture.at(1), responseDate: Fixture.at(2))
        #expect(new?.response.value(forHeader: "x") == expected)
    }

    @Test("API-597 a secret is the same only in the same field, and in the URL it is another")
    func credentialFields() throws {
        let pairs = ["cache-control": "max-age=60", "vary": "authorization, x-api-key, x-auth-token"]
        let asked = try Fixture.request(["x-api-key": "a", "x-auth-token": "b"])
        let entry = try Fixture.entry(pairs, request: asked)
        #expect(entry.hasSameAuthorization(as: asked))
        for other in try [
            Fixture.request(["x-api-key": "a", "authorization": "b"]),
            Fixture.request(["authorization": "a", "x-auth-token": "b"]),
        ] {
            #expect(!entry.hasSameAuthorization(as: other))
        }
        let user = try Fixture.entry(pairs, request: Fixture.request(url: "http://me:pw@h/x"))
        #expect(!user.hasSameAuthorization(as: try Fixture.request(["authorization": "me:pw"])))
    }

    @Test(
        "what changes something empties the cache of it, within its origin",
        arguments: [
            (HTTPRequest.Method.post, 200, ["http://h/x", "http://h/made", "http://h/y"]),
            (.delete, 204, ["http://h/x", "http://h/made", "http://h/y"]),
            (.put, 404, []), (.patch, 500, []), (.get, 200, []), (.head, 200, []), (.options, 200, []),
        ] as [(HTTPRequest.Method, Int, [String])])
    func invalidation(_ method: HTTPRequest.Method, _ status: Int, _ keys: [String]) throws {
        let response = try Fixture.response(["location": "/made", "content-location": "y"], status: status)
        #expect(CacheRules.invalidated(by: try Fixture.request(method: method), response) == Set(keys))
        let foreign = try Fixture.response(["location": "http://other/made"], status: status)
        #expect(
            !CacheRules.invalidated(by: try Fixture.request(method: method), foreign).contains(
                "http://other/made"))
    }

    @Test("handlers store, do not, or change")
    func handlers() async throws {
        let proposed = CachedResponse(try Fixture.response([:]), data: Data([1]))
        let request = try Fixture.request()
        func ask(_ handler: some CachedResponseHandler) async -> CachedResponse? {
            await handler.store(proposed, for: request)
        }
        #expect(await ask(.cache) == proposed)
        #expect(await ask(.doNotCache) == nil)
        let changed = await ask(
            ResponseCacher.modify { response, _ in
                var response = response
                response.data = Data([2])
                return response
            })
        #expect(changed?.data == Data([2]))
    }
}
