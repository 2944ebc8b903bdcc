// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import TestSupport
import Testing

struct RequestSerializerTests {
    private let serializer = HTTPRequestSerializer()

    @Test("AF-028 GET has its parameters in the URL, and neither body nor type")
    func get() throws {
        let request = try serializer.makeRequest("GET", "http://example.com", parameters: ["key": "value"])
        #expect(request.url.absoluteString == "http://example.com?key=value")
        #expect(request.body == nil)
        #expect(request.headerFields[.contentType] == nil)
    }

    @Test(
        "AF-029 AF-030 AF-032 the query goes behind what is there and before the fragment",
        arguments: [
            ("http://example.com", [:], "http://example.com"),
            ("http://example.com/p?x=1", ["a": 2], "http://example.com/p?x=1&a=2"),
            ("http://example.com/p#frag", ["a": 2], "http://example.com/p?a=2#frag"),
            ("http://example.com/p?x=1#frag?y", ["a": 2], "http://example.com/p?x=1&a=2#frag?y"),
            ("http://example.com/p?", ["a": 2], "http://example.com/p?a=2"),
            ("http://example.com/p?x&", ["a": 2], "http://example.com/p?x&a=2"),
            ("http://example.com/p?x=1#frag", [:], "http://example.com/p?x=1#frag"),
        ] as [(String, ParameterValue, String)])
    func query(_ address: String, _ parameters: ParameterValue, _ expected: String) throws {
        let request = try serializer.makeRequest("GET", address, parameters: parameters)
        #expect(request.url.absoluteString == expected)
    }

    @Test(
        "AF-033 HEAD, DELETE and get have their parameters in the URL", arguments: ["HEAD", "DELETE", "get"])
    func inURL(_ method: String) throws {
        let request = try serializer.makeRequest(method, "http://example.com/", parameters: ["a": 1])
        #expect(request.url.absoluteString == "http://example.com/?a=1")
        #expect(request.body == nil)
        #expect(request.method.rawValue == method)
    }

    @Test(
        "AF-034 AF-036 POST, PUT and PATCH have their parameters in a form body",
        arguments: ["POST", "PUT", "PATCH"])
    func form(_ method: String) throws {
        let request = try serializer.makeRequest(method, "http://example.com", parameters: ["key": "value"])
        #expect(request.bodyText == "key=value")
        #expect(request.headerFields[.contentType] == "application/x-www-form-urlencoded")
        #expect(request.url.absoluteString == "http://example.com")
    }

    @Test("POST without parameters has an empty body and the form's type, and keeps a body that is there")
    func emptyForm() throws {
        let request = try serializer.makeRequest("POST", "http://example.com")
        #expect(request.bodyData == Data())
        #expect(request.headerFields[.contentType] == "application/x-www-form-urlencoded")
        let given = try SessionRequest("http://example.com", method: .post, body: .data(Data("own".utf8)))
        let kept = try serializer.serialize(given, parameters: nil)
        #expect(kept.bodyText == "own")
        #expect(kept.headerFields[.contentType] == nil)
    }

    @Test("AF-037 a content type that is set already is kept")
    func ownType() throws {
        var serializer = serializer
        try serializer.setValue("text/custom", forHeader: "content-type")
        let request = try serializer.makeRequest("POST", "http://example.com", parameters: ["a": 1])
        #expect(request.headerFields[values: .contentType] == ["text/custom"])
        #expect(request.bodyText == "a=1")
    }

    @Test("AF-038 DELETE has a body where the set of methods says so")
    func deleteWithBody() throws {
        var serializer = serializer
        serializer.methodsEncodingParametersInURI = [.get, .head]
        let request = try serializer.makeRequest("DELETE", "http://example.com", parameters: ["a": 1])
        #expect(request.bodyText == "a=1")
        #expect(request.headerFields[.contentType] == "application/x-www-form-urlencoded")
    }

    @Test("AF-040 a query block's text is taken as it is")
    func queryBlock() throws {
        var serializer = serializer
        serializer.queryBlock = { _, parameters in
            guard case .dictionary(let values) = parameters else { return "" }
            return values.map { name, value in
                if case .string(let text) = value { "\(name)**\(text)" } else { name }
            }.joined()
        }
        let get = try serializer.makeRequest("GET", "http://example.com", parameters: ["key": "value"])
        #expect(get.url.query(percentEncoded: true) == "key**value")
        let post = try serializer.makeRequest("POST", "http://example.com", parameters: ["key": "value"])
        #expect(post.bodyText == "key**value")
        serializer.queryBlock = { _, _ in "not a query" }
        let error = sessionError {
            _ = try serializer.makeRequest("GET", "http://example.com", parameters: [:])
        }
        #expect(error?.code == .badURL)
    }

    @Test("AF-041 a query block's error fails the request")
    func queryBlockError() throws {
        struct Own: Error {}
        var serializer = serializer
        let thrown = SessionError(.checksumMismatch, "own")
        serializer.queryBlock = { _, _ in throw thrown }
        let error = sessionError {
            _ = try serializer.makeRequest("GET", "http://example.com", parameters: [:])
        }
        #expect(error?.code == .checksumMismatch && error?.message == "own")
        serializer.queryBlock = { _, _ in throw Own() }
        let wrapped = sessionError {
            _ = try serializer.makeRequest("GET", "http://example.com", parameters: [:])
        }
        #expect(wrapped?.underlying is Own)
        #expect(wrapped?.domain == .requestSerialization)
    }

    @Test("AF-042 setting a style removes the query block")
    func styleAfterBlock() throws {
        var serializer = serializer
        serializer.queryBlock = { _, _ in "block" }
        serializer.queryStringEncoder = QueryStringEncoder()
        let request = try serializer.makeRequest("GET", "http://example.com", parameters: ["a": 1])
        #expect(request.url.absoluteString == "http://example.com?a=1")
    }

    @Test("AF-044 a field that the request has already is not replaced by the default")
    func fieldsOfTheRequest() throws {
        var serializer = serializer
        try serializer.setValue("2", forHeader: "X")
        try serializer.setValue("3", forHeader: "Y")
        var request = try SessionRequest("http://example.com")
        try request.setValue("1", forHeader: "x")
        let serialized = try serializer.serialize(request, parameters: nil)
        let values = try #require(HTTPField.Name("X"))
        #expect(serialized.headerFields[values: values] == ["1"])
        #expect(HTTPField.Name("Y").flatMap { serialized.headerFields[$0] } == "3")
    }

    @Test(
        "AF-053 an address or method that is none is an error",
        arguments: [
            ("GET", "http://exa mple"), ("", "http://example.com"), ("G ET", "http://example.com"),
            ("GET", ""),
        ])
    func bad(_ method: String, _ address: String) {
        let error = sessionError { _ = try serializer.makeRequest(method, address) }
        #expect(error?.code == .badURL)
        #expect(error?.code.rawValue == -1000)
    }

    @Test("Encodable and untyped parameters are written like others")
    func otherParameters() throws {
        struct Point: Encodable {
            let x = 1
            let y: Double? = nil
        }
        let request = try SessionRequest("http://example.com")
        #expect(try serializer.serialize(request, encoding: Point()).url.query(percentEncoded: true) == "x=1")
        let untyped = try serializer.serialize(request, untyped: ["a": [1, 2.5, true] as [Any]])
        #expect(untyped.url.query(percentEncoded: true) == "a%5B%5D=1&a%5B%5D=2.5&a%5B%5D=1")
        #expect(try serializer.serialize(request, untyped: nil).url == request.url)
    }

    @Test("a form's bytes are in the chosen encoding")
    func textEncoding() throws {
        var serializer = serializer
        serializer.textEncoding = .utf16BigEndian
        let request = try serializer.makeRequest("POST", "http://example.com", parameters: ["a": 1])
        #expect(request.bodyData == Data([0, 0x61, 0, 0x3D, 0, 0x31]))
    }
}
