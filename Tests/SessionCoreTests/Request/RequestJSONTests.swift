// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import TestSupport
import Testing

struct RequestJSONTests {
    private let serializer = JSONRequestSerializer()

    @Test(
        "AF-056 AF-057 parameters become a JSON body with its type",
        arguments: [
            (["key": "value"], #"{"key":"value"}"#), ([["key": "value"]], #"[{"key":"value"}]"#),
        ] as [(ParameterValue, String)])
    func body(_ parameters: ParameterValue, _ expected: String) throws {
        let request = try serializer.makeRequest("POST", "http://example.com", parameters: parameters)
        #expect(request.bodyText == expected)
        #expect(request.headerFields[.contentType] == "application/json")
        #expect(request.url.absoluteString == "http://example.com")
    }

    @Test("AF-058 without parameters there is neither a body nor a type, and a body that is there stays")
    func none() throws {
        let request = try serializer.makeRequest("POST", "http://example.com")
        #expect(request.body == nil)
        #expect(request.headerFields[.contentType] == nil)
        #expect(request.headerFields[.userAgent] != nil)
        let own = try SessionRequest("http://example.com", method: .post, body: .data(Data("own".utf8)))
        #expect(try serializer.serialize(own, parameters: nil).bodyText == "own")
    }

    @Test(
        "AF-060 what JSON cannot say is refused, and where it is is told",
        arguments: [
            (.set(["a"]), "a set"), (["k": [1, .set([1])]], #""parameters.k[1]" is a set"#),
            (["n": .number(.nan)], #""parameters.n" is a number that is not finite"#),
            ([.number(.infinity)], #""parameters[0]" is a number that is not finite"#),
            (["d": .date(Date(timeIntervalSince1970: 0))], #""parameters.d" is a date"#),
            (["d": .data(Data([1]))], #""parameters.d" is data"#), ("text", "text"), (nil, "null"),
            (1, "a number"),
        ] as [(ParameterValue, String)])
    func refused(_ parameters: ParameterValue, _ advice: String) {
        var serializer = serializer
        serializer.writingOptions.dates = nil
        let error = sessionError {
            _ = try serializer.makeRequest("POST", "http://example.com", parameters: parameters)
        }
        #expect(error?.code.rawValue == -1016)
        #expect(error?.domain == .requestSerialization)
        #expect(error?.message == "The `parameters` argument is not valid JSON.")
        #expect(error?.advice.hasSuffix(advice) == true)
    }

    @Test("AF-060 a key that is no text is refused")
    func numericKey() throws {
        let request = try SessionRequest("http://example.com", method: .post)
        for any in [serializer as any RequestSerializer, serializer] {
            let error = sessionError { _ = try any.serialize(request, untyped: ["a": [42: "value"]]) }
            #expect(error?.code.rawValue == -1016)
            #expect(error?.message == "The `parameters` argument is not valid JSON.")
            #expect(error?.advice.contains("42") == true && error?.advice.contains("parameters.a") == true)
        }
        #expect(try serializer.serialize(request, untyped: ["a": [1]]).bodyText == #"{"a":[1]}"#)
    }

    @Test("AF-062 a content type that is set already is kept")
    func ownType() throws {
        var request = try SessionRequest("http://example.com", method: .post)
        try request.setValue("application/vnd.api+json", forHeader: "Content-Type")
        let serialized = try serializer.serialize(request, parameters: ["a": 1])
        #expect(serialized.headerFields[values: .contentType] == ["application/vnd.api+json"])
        #expect(serialized.bodyText == #"{"a":1}"#)
    }

    @Test("a GET has its parameters in the URL")
    func get() throws {
        let request = try serializer.makeRequest("GET", "http://example.com", parameters: ["a": 1])
        #expect(request.url.absoluteString == "http://example.com?a=1")
        #expect(request.body == nil)
    }

    @Test("scalars are written as RFC 8259 has them")
    func scalars() throws {
        let values: ParameterValue = [
            nil, true, false, .integer(.min), .unsigned(.max), 3.0, 1.5, -2e-10, 1e300,
            "a/b \"q\" \\ \u{8}\u{9}\n\u{C}\r\u{0}\u{1F} ü \u{2028} 😀", [], [:],
        ]
        let text = String(decoding: try JSONWritingOptions().data(values), as: UTF8.self)
        #expect(
            text == "[null,true,false,-9223372036854775808,18446744073709551615,3,1.5,-2e-10,1e+300,"
                + "\"a/b \\\"q\\\" \\\\ \\b\\t\\n\\f\\r\\u0000\\u001f ü \u{2028} 😀\",[],{}]")
        let read = try JSONDecoder().decode(ParameterValue.self, from: Data(text.utf8))
        guard case .array(let elements) = read, case .array(let originals) = values else {
            Issue.record("no array")
            return
        }
        #expect(elements[9] == originals[9])
        #expect(elements[4] == .unsigned(.max) && elements[5] == .integer(3))
    }

    @Test("names are sorted, and the text is laid out where asked for")
    func layout() throws {
        let parameters: ParameterValue = ["b": [1, ["c": nil]], "a": [:], "é": [], "B": 2]
        var options = JSONWritingOptions()
        #expect(
            String(decoding: try options.data(parameters), as: UTF8.self)
                == #"{"B":2,"a":{},"b":[1,{"c":null}],"é":[]}"#)
        options.isPretty = true
        #expect(
            String(decoding: try options.data(parameters), as: UTF8.self) == """
                {
                  "B": 2,
                  "a": {},
                  "b": [
                    1,
                    {
                      "c": null
                    }
                  ],
                  "é": []
                }
                """)
    }

    @Test("dates and data are written where a style is chosen")
    func styles() throws {
        var options = JSONWritingOptions()
        options.dates = .iso8601
        options.data = .base64
        let parameters: ParameterValue = [.date(Date(timeIntervalSince1970: 0)), .data(Data([0, 255]))]
        #expect(
            String(decoding: try options.data(parameters), as: UTF8.self)
                == #"["1970-01-01T00:00:00Z","AP8="]"#)
        options.dates = .secondsSince1970
        options.data = .hexadecimal
        #expect(String(decoding: try options.data(parameters), as: UTF8.self) == #"[0,"00ff"]"#)
    }

    @Test("nesting without end is refused before the stack is full")
    func depth() throws {
        var value: ParameterValue = []
        for _ in 0..<500 { value = [value] }
        #expect(try JSONWritingOptions().data(value).count == 1002)
        for _ in 0..<600 { value = ["a": value] }
        let error = sessionError { _ = try JSONWritingOptions().data(value) }
        #expect(error?.advice.contains("deeper") == true)
    }

    @Test("what has been written down comes back, without closures")
    func archive() throws {
        var serializer = serializer
        serializer.writingOptions.isPretty = true
        serializer.writingOptions.dates = .iso8601
        serializer.writingOptions.data = .hexadecimal
        serializer.base.methodsEncodingParametersInURI = []
        let read = try JSONDecoder().decode(
            JSONRequestSerializer.self, from: try JSONEncoder().encode(serializer))
        #expect(read.writingOptions == serializer.writingOptions)
        #expect(read.base.methodsEncodingParametersInURI == [])
        let fresh = try JSONDecoder().decode(JSONRequestSerializer.self, from: Data("{}".utf8))
        #expect(fresh.writingOptions == JSONWritingOptions())
    }
}
