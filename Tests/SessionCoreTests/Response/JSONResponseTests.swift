// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import TestSupport
import Testing

struct JSONResponseTests {
    private let serializer = JSONResponseSerializer()

    @Test(
        "AF-106 types of JSON",
        arguments: [
            ("application/json", true), ("text/json", true), ("text/javascript", true),
            ("nonstandard/json", false),
        ])
    func types(_ type: String, _ passes: Bool) throws {
        let result = serializer.serialize(Data(text: "[1]"), response: try head(type: type))
        #expect(result.value == (passes ? [1] : nil))
        #expect(result.error?.code == (passes ? nil : .cannotDecodeContentData))
    }

    @Test("AF-108 what is no JSON is no object and an error that says where")
    func malformed() throws {
        let result = serializer.serialize(
            Data(text: "{invalid}"), response: try head(type: "application/json"))
        #expect(result.value == nil)
        #expect(result.error?.code == .cannotParseResponse)
        #expect(result.error?.message.contains("line 1, column 2") == true)
        #expect(result.error?.underlying is JSONParseError)
    }

    @Test("AF-109 no content and a single space are no object and no error")
    func empty() throws {
        for data in [nil, Data(), Data(text: " ")] {
            let result = serializer.serialize(data, response: try head(type: "application/json"))
            #expect(result.value == nil)
            #expect(result.error == nil)
        }
    }

    @Test("AF-110 two spaces and a line break are an error", arguments: ["  ", "\n"])
    func blank(_ text: String) throws {
        let result = serializer.serialize(Data(text: text), response: try head(type: "application/json"))
        #expect(result.value == nil)
        #expect(result.error?.code == .cannotParseResponse)
    }

    @Test("AF-112 nulls are left out of objects and arrays, at every level")
    func removesNulls() throws {
        let text = """
            {"key":"value","nullkey":null,"array":[{"subnullkey":null}],"arrayWithNulls":[null]}
            """
        let result = JSONResponseSerializer(removesNullValues: true).serialize(
            Data(text: text), response: try head(type: "application/json"))
        #expect(result.value == ["key": "value", "array": [[:]], "arrayWithNulls": []])
    }

    @Test("AF-113 nulls are kept unless asked otherwise")
    func keepsNulls() throws {
        let data = Data(text: "[null,1,[null,2]]")
        let response = try head(type: "application/json")
        #expect(serializer.serialize(data, response: response).value == [.null, 1, [.null, 2]])
        let removing = JSONResponseSerializer(removesNullValues: true)
        #expect(removing.serialize(data, response: response).value == [1, [2]])
    }

    @Test("a document that is neither array nor object needs permission")
    func fragments() throws {
        let response = try head(type: "application/json")
        #expect(serializer.serialize(Data(text: "1"), response: response).error?.code == .cannotParseResponse)
        let open = JSONResponseSerializer(allowsFragments: true)
        #expect(open.serialize(Data(text: "1"), response: response).value == 1)
    }

    @Test("AF-120 one serializer in fifty tasks at once gives the same results")
    func concurrent() async throws {
        let serializer = JSONResponseSerializer(removesNullValues: true)
        let response = try head(500, type: "application/json")
        let data = Data(text: #"{"a":[1,null,"\u00fc"]}"#)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    (0..<100).allSatisfy { _ in
                        let result = serializer.serialize(data, response: response)
                        return result.value == ["a": [1, "ü"]] && result.error?.code == .badServerResponse
                    }
                }
            }
            for await isSame in group { #expect(isSame) }
        }
    }

    @Test("a serializer is stored and read with its options")
    func archived() throws {
        let serializer = JSONResponseSerializer(
            validation: ResponseValidation(statusCodes: nil, contentTypes: ["application/*"]),
            allowsFragments: true,
            removesNullValues: true)
        let stored = try JSONEncoder().encode(serializer)
        #expect(try JSONDecoder().decode(JSONResponseSerializer.self, from: stored) == serializer)
    }
}
