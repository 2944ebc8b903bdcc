// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import ReachTesting
import SessionCore
import SessionManager
import TestSupport
import Testing

/// What one call puts into its request: bodies, parameters, header fields.
struct RequestContentTests {
    private let api: HTTPSessionManager

    init() throws {
        api = try HTTPSessionManager(baseURL: "https://example.com/v1")
        var serializer = HTTPRequestSerializer(headerFields: HTTPFields())
        serializer.headerFields[.accept] = "application/json"
        api.requestSerializer = serializer
    }

    private struct Sample: Encodable {
        var name = "a/b"
        var takenAt = Date(timeIntervalSince1970: 1_767_323_045.25)
        var text: String?
    }

    private func text(_ request: SessionRequest) throws -> String {
        guard case .data(let data)? = request.body else { throw Missing() }
        return String(decoding: data, as: UTF8.self)
    }

    private struct Missing: Error {}

    @Test("API-001 json: any encodable value, with dates of ISO 8601 and names in order")
    func json() throws {
        let request = try api.request(.post, "samples", json: Sample())
        #expect(try text(request) == #"{"name":"a/b","takenAt":"2026-01-02T03:04:05.250Z"}"#)
        #expect(request.value(forHeader: "content-type") == "application/json")
        #expect(request.value(forHeader: "Accept") == "application/json")
        #expect(try text(api.request(.put, "list", json: [1, 2, 3])) == "[1,2,3]")
        let document: JSONValue = ["a": 1, "b": ["c", .null]]
        #expect(try text(api.request(.patch, "x", json: document)) == #"{"a":1,"b":["c",null]}"#)
        // Nothing is sent for a value that is absent.
        #expect(try api.request(.get, "x", json: Sample?.none).body == nil)
    }

    @Test("API-002 json is written by the manager's encoder; a type that is named in the headers stays")
    func encoder() throws {
        let encoder = JSONCoding.encoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .secondsSince1970
        api.encoder = encoder
        let request = try api.request(
            .post, "samples", json: Sample(), headers: ["content-type": "application/vnd.sample+json"])
        #expect(try text(request) == #"{"name":"a/b","taken_at":1767323045.25}"#)
        #expect(request.headerFields[values: .contentType] == ["application/vnd.sample+json"])
        #expect {
            _ = try api.request(.post, "samples", json: Double.nan)
        } throws: {
            ($0 as? SessionError)?.code == .cannotDecodeContentData
        }
    }

    @Test("API-003 form: an encodable value, in the way of the manager's queries")
    func form() throws {
        let request = try api.request(.post, "login", form: ["user": "a b", "age": "3"])
        #expect(try text(request) == "age=3&user=a%20b")
        #expect(request.value(forHeader: "Content-Type") == "application/x-www-form-urlencoded")
        var serializer = HTTPRequestSerializer()
        serializer.queryBlock = { _, _ in "own" }
        api.requestSerializer = serializer
        #expect(try text(api.request(.post, "login", form: ["user": "a"])) == "own")
        api.requestSerializer = JSONRequestSerializer()
        #expect(try text(api.request(.post, "login", form: ["user": "a"])) == "user=a")
    }

    @Test("API-004 body: bytes, files and streams, with a media type of their own")
    func body() throws {
        let request = try api.request(.put, "firmware", body: .file(path: "/etc/hostname"))
        guard case .file("/etc/hostname")? = request.body else { throw Missing() }
        #expect(request.value(forHeader: "Content-Type") == "application/octet-stream")
        let named = try api.request(
            .put, "firmware", body: .data(Data("x".utf8)), headers: .fields([.contentType: "text/plain"]))
        #expect(named.headerFields[values: .contentType] == ["text/plain"])
        let chunks = AsyncStream<Data> { $0.finish() }
        let live = try api.request(.put, "firmware", body: .stream(StreamedBody(chunks)))
        guard case .stream? = live.body else { throw Missing() }
        #expect(live.value(forHeader: "Content-Type") == "application/octet-stream")
    }

    @Test("API-005 parameters are variables, optionals, dates, dictionaries of one type")
    func parameters() throws {
        let (name, limit, since) = ("a b", 10, Date(timeIntervalSince1970: 0))
        let (absent, present): (Int?, Int?) = (nil, 7)
        let request = try api.request(
            .get, "users",
            parameters: [
                "name": name, "limit": limit, "since": since, "absent": absent, "present": present,
                "flag": true, "ids": [1, 2], "null": ParameterValue.null,
            ])
        #expect(
            request.url.absoluteString
                == "https://example.com/v1/users?flag=1&ids[]=1&ids[]=2&limit=10&name=a%20b&null&present=7&since=1970-01-01T00:00:00Z"
                .replacing("[]", with: "%5B%5D").replacing("00:00:00", with: "00%3A00%3A00"))
        let numbers = ["a": 1, "b": 2]
        #expect(try api.request(.get, "x", parameters: numbers).url.query() == "a=1&b=2")
        #expect(try text(api.request(.post, "x", parameters: numbers)) == "a=1&b=2")
    }

    @Test("API-006 query: one encodable value, behind what the address has, whatever the body is")
    func query() throws {
        struct Filter: Encodable {
            var kind = "t"
            var limit: Int? = 5
            var after: String?
        }
        let request = try api.request(.post, "samples?dry=1", query: Filter(), json: [1])
        #expect(request.url.absoluteString == "https://example.com/v1/samples?dry=1&kind=t&limit=5")
        #expect(try text(request) == "[1]")
        #expect(try api.request(.get, "x", query: ["q": "ä"]).url.absoluteString.hasSuffix("x?q=%C3%A4"))
    }

    @Test("API-007 more than one body is refused, and says what to give")
    func severalBodies() throws {
        func refusal(_ make: () throws -> SessionRequest) -> SessionError? {
            do {
                _ = try make()
                return nil
            } catch { return error as? SessionError }
        }
        let refusals = [
            refusal { try api.request(.post, "x", json: [1], form: ["a": "b"]) },
            refusal { try api.request(.post, "x", parameters: ["a": 1], json: [1]) },
            refusal { try api.request(.post, "x", multipart: MultipartFormData(), body: .data(Data())) },
        ]
        for error in refusals {
            #expect(error?.code == .cannotDecodeContentData)
            #expect(error?.advice.contains("query is for the URL") == true)
        }
    }

    @Test("API-008 default headers go with each request; the call's own replace them and the serializer's")
    func headers() throws {
        api.defaultHeaders["X-Device"] = "7"
        api.defaultHeaders[.accept] = "text/plain"
        #expect(api.defaultHeaders["x-device"] == "7")
        let plain = try api.request(.get, "x")
        #expect(plain.value(forHeader: "X-Device") == "7")
        #expect(plain.headerFields[values: .accept] == ["text/plain"])
        let fields: HTTPFields = [.accept: "image/png"]
        let other = try api.request(.get, "x", headers: fields)
        #expect(other.headerFields[values: .accept] == ["image/png"])
        let trace = ["x-device": "8", "X-Trace": "1"]
        let third = try api.request(.get, "x", headers: trace)
        #expect(third.value(forHeader: "X-Device") == "8" && third.value(forHeader: "x-trace") == "1")
        api.defaultHeaders["X-Device"] = nil
        #expect(try api.request(.get, "x").value(forHeader: "X-Device") == nil)
    }

    @Test("API-009 a default header that breaks a request apart fails it until it is replaced")
    func brokenHeader() throws {
        api.defaultHeaders["X-Serial"] = "7\r\nX-Admin: 1"
        for _ in 0..<2 {
            #expect {
                _ = try api.request(.get, "x")
            } throws: {
                ($0 as? SessionError)?.code == .invalidHeaderField
            }
        }
        api.defaultHeaders["x-serial"] = "7"
        #expect(try api.request(.get, "x").value(forHeader: "X-Serial") == "7")
    }

    @Test("API-010 the manager's timeout holds over the serializer's, and nothing over nothing")
    func timeout() throws {
        #expect(try api.request(.get, "x").options.timeoutInterval == .seconds(60))
        var serializer = HTTPRequestSerializer()
        serializer.options.timeoutInterval = .seconds(5)
        api.requestSerializer = serializer
        #expect(try api.request(.get, "x").options.timeoutInterval == .seconds(5))
        api.timeoutInterval = .seconds(9)
        #expect(try api.request(.get, "x").options.timeoutInterval == .seconds(9))
        #expect(try api.copy().request(.get, "x").options.timeoutInterval == .seconds(9))
    }

    @Test("API-011 every verb sends its body, with a value, with a head and with a block")
    func onTheWire() async throws {
        let origin = try await TestSupport.Origin.shared
        let api = try HTTPSessionManager(
            baseURL: origin.url("/anything/"), configuration: SessionConfiguration { $0.proxy = "" })
        let sample = ["k": "v"]
        var seen: [JSONValue] = [
            try await api.post("a", json: sample), try await api.put("a", json: sample),
            try await api.patch("a", json: sample),
        ]
        for start in [
            { api.post("a", query: ["q": 1], form: sample, completion: $0) },
            { api.put("a", query: ["q": 1], form: sample, completion: $0) },
            { api.patch("a", query: ["q": 1], form: sample, completion: $0) },
        ] as [(@escaping CompletionBlock) -> SessionTask?] {
            let box = Box<Finished>()
            _ = start { box.put(Finished(response: $0, object: $1, error: $2)) }
            seen.append(try #require(await box.value.json))
        }
        #expect(seen.map { $0["method"] } == ["POST", "PUT", "PATCH", "POST", "PUT", "PATCH"])
        #expect(seen[..<3].allSatisfy { $0["json"]?["k"] == "v" })
        #expect(seen[3...].allSatisfy { $0["form"]?["k"] == "v" && $0["args"]?["q"] == "1" })
        #expect(try await api.post("a", body: .data(Data("x".utf8))).statusCode == 200)
        #expect(try await api.put("a", json: sample).statusCode == 200)
        #expect(try await api.patch("a", json: sample).statusCode == 200)
        #expect(try await api.delete("a", query: ["a": "b"]).statusCode == 200)
        let (data, _) = try await api.data(.init("REPORT")!, "a", json: sample)
        #expect(try JSONValue(parsing: data)["json"]?["k"] == "v")
        // Of an answer that is a head alone the status says what came.
        let judge = try HTTPSessionManager(baseURL: "https://example.com") { request in
            let body = request.method == .delete ? "" : "k=v"
            return .status(request.text == body && request.query("q") == "1" ? 204 : 400)
        }
        #expect(try await judge.post("a", query: ["q": 1], form: sample).statusCode == 204)
        #expect(try await judge.put("a", query: ["q": 1], form: sample).statusCode == 204)
        #expect(try await judge.patch("a", query: ["q": 1], form: sample).statusCode == 204)
        #expect(try await judge.delete("a", query: ["q": 1]).statusCode == 204)
    }
}
