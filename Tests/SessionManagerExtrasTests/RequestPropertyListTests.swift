// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManagerExtras
import TestSupport
import Testing

struct RequestPropertyListTests {
    private let serializer = PropertyListRequestSerializer()

    @Test("AF-064 parameters become an XML property list with its type")
    func xml() throws {
        let request = try serializer.makeRequest("POST", "http://example.com", parameters: ["key": "a<b"])
        let text = try #require(request.bodyText)
        #expect(text.hasPrefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC "))
        #expect(text.contains("<key>key</key>\n\t<string>a&lt;b</string>"))
        #expect(request.headerFields[.contentType] == "application/x-plist")
    }

    @Test("AF-065 a key that is no text is refused")
    func numericKey() throws {
        let request = try SessionRequest("http://example.com", method: .post)
        let error = sessionError { _ = try serializer.serialize(request, untyped: [42: "value"]) }
        #expect(error?.code == .cannotDecodeContentData)
        #expect(error?.domain == .requestSerialization)
        #expect(error?.message.contains("42") == true)
    }

    @Test("AF-066 a GET has its parameters in the URL")
    func get() throws {
        let request = try serializer.makeRequest("GET", "http://example.com", parameters: ["a": 1])
        #expect(request.url.absoluteString == "http://example.com?a=1")
        #expect(request.body == nil && request.headerFields[.contentType] == nil)
    }

    @Test("without parameters there is neither a body nor a type")
    func none() throws {
        let request = try serializer.makeRequest("POST", "http://example.com")
        #expect(request.body == nil && request.headerFields[.contentType] == nil)
    }

    @Test("both formats hold every kind of value", arguments: PropertyListRequestSerializer.Format.allCases)
    func formats(_ format: PropertyListRequestSerializer.Format) throws {
        let parameters: ParameterValue = [
            "b": true, "i": -3, "n": 1.5, "s": "ü", "d": .data(Data([0, 255])),
            "t": .date(Date(timeIntervalSince1970: 1_000_000_000)), "a": [1, [:]],
        ]
        let request = try PropertyListRequestSerializer(format: format)
            .makeRequest("PUT", "http://example.com", parameters: parameters)
        let data = try #require(request.bodyData)
        #expect(data.starts(with: (format == .xml ? "<?xml" : "bplist00").utf8))
        #expect(try PropertyListDecoder().decode(ParameterValue.self, from: data) == parameters)
    }

    @Test(
        "what a property list cannot say is refused, and where it is is told",
        arguments: [
            (["k": [nil]], #""parameters.k[0]" is null"#), (["k": .set([1])], #""parameters.k" is a set"#),
            ("text", "text"), (["k": "a\u{1}"], "control character"), (["k": .number(.nan)], "not finite"),
        ] as [(ParameterValue, String)])
    func refused(_ parameters: ParameterValue, _ advice: String) {
        let error = sessionError {
            _ = try serializer.makeRequest("POST", "http://example.com", parameters: parameters)
        }
        #expect(error?.code == .cannotDecodeContentData && error?.domain == .requestSerialization)
        #expect(error?.advice.contains(advice) == true)
    }

    @Test("what has been written down comes back")
    func archive() throws {
        var serializer = PropertyListRequestSerializer(format: .binary)
        serializer.base.methodsEncodingParametersInURI = [.get]
        let read = try JSONDecoder().decode(
            PropertyListRequestSerializer.self, from: try JSONEncoder().encode(serializer))
        #expect(read.format == .binary && read.base.methodsEncodingParametersInURI == [.get])
    }
}
