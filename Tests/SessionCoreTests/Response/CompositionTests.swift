// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import TestSupport
import Testing

struct CompositionTests {
    private struct Thing: Codable, Equatable { var count: Int }

    private let compound = CompoundResponseSerializer([
        StringResponseSerializer(validation: ResponseValidation(contentTypes: ["text/plain"])),
        JSONResponseSerializer(),
    ])

    @Test("AF-118 the first serializer that makes an object wins")
    func compoundMatches() throws {
        let result = compound.serialize(Data(text: #"{"a":1}"#), response: try head(type: "application/json"))
        #expect(result.error == nil)
        #expect(result.value as? JSONValue == ["a": 1])
        let text = compound.serialize(Data(text: "one"), response: try head(type: "text/plain"))
        #expect(text.value as? String == "one")
        let failed = compound.serialize(
            Data(text: #"{"a":1}"#), response: try head(500, type: "application/json"))
        #expect(failed.value as? JSONValue == ["a": 1])
        #expect(failed.error?.code == .badServerResponse)
    }

    @Test("AF-118 what no serializer takes stays as it is")
    func compoundFallsBack() throws {
        let result = compound.serialize(Data(text: "a,b"), response: try head(type: "text/csv"))
        #expect(result.error == nil)
        #expect(result.value as? Data == Data(text: "a,b"))
        #expect(compound.serialize(Data(), response: try head(404)).error?.code == .badServerResponse)
    }

    @Test("a compound of this library's serializers is stored and read")
    func compoundArchived() throws {
        let nested = CompoundResponseSerializer(
            [compound, StringResponseSerializer(encoding: .utf8), HTTPResponseSerializer()],
            validation: ResponseValidation(statusCodes: nil))
        let stored = try JSONEncoder().encode(nested)
        let read = try JSONDecoder().decode(CompoundResponseSerializer.self, from: stored)
        #expect(read.validation == nested.validation)
        #expect(read.serializers.count == 3)
        #expect(read.serializers[1] as? StringResponseSerializer == StringResponseSerializer(encoding: .utf8))
        let inner = read.serializers[0] as? CompoundResponseSerializer
        #expect(inner?.serializers[1] as? JSONResponseSerializer == JSONResponseSerializer())
        let foreign = CompoundResponseSerializer([DecodableResponseSerializer(Thing.self)])
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(foreign) }
    }

    @Test("a type of one's own is decoded; what does not fit says where")
    func decodable() throws {
        let serializer = DecodableResponseSerializer([String: Thing].self)
        let response = try head(type: "application/json")
        #expect(
            serializer.serialize(Data(text: #"{"a":{"count":3}}"#), response: response).value == [
                "a": Thing(count: 3)
            ])
        let error = serializer.serialize(Data(text: #"{"a":{"count":"x"}}"#), response: response).error
        #expect(error?.code == .cannotParseResponse)
        #expect(error?.message.contains("a.count") == true)
        #expect(error?.underlying is DecodingError)
        let broken = serializer.serialize(Data(text: #"{"a":{"count"#), response: response).error
        #expect(broken?.code == .cannotParseResponse)
        #expect(broken?.message.contains("line 1, column") == true, "\(String(describing: broken))")
    }

    @Test(
        "no content is fine after HEAD, with 204 and 205, and for a type that has a value for it; else an error"
    )
    func decodableWithoutContent() throws {
        let serializer = DecodableResponseSerializer(Thing.self)
        for response in [try head(204), try head(205), try head(method: .head)] {
            #expect(serializer.serialize(nil, response: response).error == nil)
            #expect(serializer.serialize(Data(), response: response).value == nil)
        }
        #expect(serializer.serialize(Data(), response: try head()).error?.code == .zeroByteResource)
        let empty = DecodableResponseSerializer(EmptyResponse.self)
        #expect(empty.serialize(nil, response: try head(204)).value == EmptyResponse())
        #expect(
            empty.serialize(Data(text: "{}"), response: try head(type: "text/json")).value == EmptyResponse())
    }

    @Test("the prefix against scripts is taken away, and only it")
    func preprocessor() throws {
        let serializer = JSONResponseSerializer().preprocessing(GoogleXSSIPreprocessor())
        let response = try head(type: "application/json")
        #expect(serializer.serialize(Data(text: ")]}',\n[1]"), response: response).value == [1])
        #expect(serializer.serialize(Data(text: "[1]"), response: response).value == [1])
        #expect(serializer.serialize(Data(text: ")]}',"), response: response).error != nil)
        #expect(serializer.serialize(nil, response: response).error == nil)
        let slice = Data(text: "xx)]}',\n[1]").dropFirst(2)
        #expect(serializer.serialize(slice, response: response).value == [1])
    }

    @Test("a preprocessor's failure is the response's, with what came")
    func refusingPreprocessor() throws {
        struct Refusal: DataPreprocessor {
            func preprocess(_ data: Data) throws(SessionError) -> Data {
                throw SessionError(.cannotDecodeRawData, "not today")
            }
        }
        let response = try head(type: "application/json")
        let result = JSONResponseSerializer().preprocessing(Refusal()).serialize(
            Data(text: "[1]"), response: response)
        #expect(result.value == nil)
        #expect(result.error?.message == "not today" && result.error?.code == .cannotDecodeRawData)
        #expect(result.error?.data == Data(text: "[1]"))
        #expect(result.error?.response == response)
    }

    @Test("the caller says which responses need no content")
    func emptyOnes() throws {
        struct Thing: Decodable { var name: String }
        var serializer = DecodableResponseSerializer(Thing.self)
        let (accepted, after) = (try head(202), try head(method: .post))
        for response in [accepted, after] {
            #expect(serializer.serialize(Data(), response: response).error?.code == .zeroByteResource)
        }
        serializer.emptyStatusCodes = [202...202]
        #expect(serializer.serialize(Data(), response: accepted).error == nil)
        #expect(serializer.serialize(Data(), response: after).error?.code == .zeroByteResource)
        #expect(serializer.serialize(nil, response: try head(204)).error?.code == .zeroByteResource)
        serializer.emptyMethods = [.post]
        #expect(serializer.serialize(nil, response: after).error == nil)
    }

    @Test("objects are turned into others; a further rule is asked")
    func mapped() throws {
        let response = try head(type: "application/json")
        let length = JSONResponseSerializer().map { $0.array?.count ?? -1 }
        #expect(length.serialize(Data(text: "[1,2]"), response: response).value == 2)
        let failing = JSONResponseSerializer().map { _ throws(SessionError) -> Int in
            throw SessionError(.cannotParseResponse, "no")
        }
        let failed = failing.serialize(Data(text: "[1]"), response: try head(500, type: "text/json")).error
        #expect(failed?.message == "no")
        #expect(failed?.inner?.code == .badServerResponse)
        let ruled = JSONResponseSerializer().validating { _, data in
            data?.count == 3 ? SessionError(.badServerResponse, "three", domain: .responseSerialization) : nil
        }
        let refused = ruled.serialize(Data(text: "[1]"), response: response)
        #expect(refused.value == [1])
        #expect(refused.error?.message == "three")
        #expect(refused.error?.failingURL == response.url)
        #expect(ruled.serialize(Data(text: "[10]"), response: response).error == nil)
        #expect(
            AnyResponseSerializer(erasing: ruled).serialize(Data(text: "[1]"), response: response).error
                != nil)
    }
}
