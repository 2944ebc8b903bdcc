// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import TestSupport
import Testing

struct ResponseValidationTests {
    private let base = HTTPResponseSerializer()

    @Test("every status 200…299 is valid", arguments: 200...299)
    func successful(_ status: Int) throws {
        #expect(base.serialize(Data(), response: try head(status)).error == nil)
    }

    @Test("AF-092 every status 400…599 is invalid, with the error of a response", arguments: 400...599)
    func failing(_ status: Int) throws {
        let error = try #require(base.serialize(Data(text: "x"), response: try head(status)).error)
        #expect(error.code == .badServerResponse)
        #expect(error.code.rawValue == -1011)
        #expect(error.domain == .responseSerialization)
        #expect(error.message.hasPrefix("Request failed: "))
        #expect(error.message.hasSuffix(" (\(status))"))
        #expect(error.response?.statusCode == status)
        #expect(error.data == Data(text: "x"))
    }

    @Test("AF-092 the error of a status says what the status means")
    func reasonPhrase() throws {
        let error = base.serialize(Data(), response: try head(404)).error
        #expect(error?.message == "Request failed: not found (404)")
        #expect(error?.advice == "check the path of the URL")
        #expect(
            base.serialize(nil, response: try head(500)).error?.message
                == "Request failed: internal server error (500)")
    }

    @Test("AF-093 a status next to the acceptable ones is invalid", arguments: [199, 300, 304])
    func neighbours(_ status: Int) throws {
        let result = base.serialize(Data(text: "x"), response: try head(status))
        #expect(result.error?.code == .badServerResponse)
        #expect(result.value == Data(text: "x"))
    }

    @Test("AF-094 without acceptable codes every status is valid")
    func anyStatus() throws {
        let serializer = HTTPResponseSerializer(validation: ResponseValidation(statusCodes: nil))
        #expect(serializer.serialize(Data(), response: try head(500)).error == nil)
    }

    @Test("AF-096 a response without a type is valid without content, invalid with content")
    func missingType() throws {
        let serializer = HTTPResponseSerializer(validation: ResponseValidation(contentTypes: ["text/html"]))
        let response = try head(205)
        #expect(serializer.serialize(nil, response: response).error == nil)
        let error = serializer.serialize(Data(text: "test"), response: response).error
        #expect(error?.code == .cannotDecodeContentData)
        #expect(error?.code.rawValue == -1016)
        let open = HTTPResponseSerializer(validation: ResponseValidation(contentTypes: [.any]))
        #expect(open.serialize(Data(text: "test"), response: response).error == nil)
    }

    @Test("AF-097 the error of a type names what came and what was acceptable, and has the exact content")
    func wrongType() throws {
        let serializer = HTTPResponseSerializer(
            validation: ResponseValidation(contentTypes: ["application/json", "text/json"]))
        let response = try head(200, type: "text/html; charset=utf-8")
        let result = serializer.serialize(Data(text: "<html>"), response: response)
        let error = try #require(result.error)
        #expect(error.code == .cannotDecodeContentData)
        #expect(error.message == "Request failed: unacceptable content-type: text/html")
        #expect(error.advice.contains("application/json, text/json"))
        #expect(error.advice.contains("serializer's acceptableContentTypes"))
        #expect(error.acceptableContentTypes == ["application/json", "text/json"])
        #expect(error.response?.mimeType == "text/html")
        #expect(error.with(advice: "").acceptableContentTypes == error.acceptableContentTypes)
        #expect(error.failingURL == response.url)
        #expect(error.response == response)
        #expect(error.data == Data(text: "<html>"))
        #expect(result.value == Data(text: "<html>"))
    }

    @Test("AF-098 a wrong type without content is no object and no error")
    func wrongTypeWithoutContent() throws {
        let result = JSONResponseSerializer().serialize(Data(), response: try head(200, type: "text/html"))
        #expect(result.value == nil)
        #expect(result.error == nil)
    }

    @Test(
        "AF-100 a bad status with content of the wrong type: the status above, the type underneath, no object"
    )
    func wrongStatusAndType() throws {
        let result = JSONResponseSerializer().serialize(
            Data(text: "<html>"), response: try head(500, type: "text/html"))
        #expect(result.value == nil)
        #expect(result.error?.code == .badServerResponse)
        #expect(result.error?.inner?.code == .cannotDecodeContentData)
        #expect(result.error?.acceptableContentTypes == nil)
        #expect(
            result.error?.inner?.acceptableContentTypes == JSONResponseSerializer().acceptableContentTypes)
    }

    @Test("by its head alone a response is refused for its status, never for content that has not come")
    func heads() throws {
        struct Value: Decodable {}
        let decodable = DecodableResponseSerializer<Value>()
        let serializers: [any ResponseSerializer] = [
            HTTPResponseSerializer(), JSONResponseSerializer(), decodable, StringResponseSerializer(),
            AnyResponseSerializer(erasing: decodable), decodable.map { _ in 1 },
            decodable.preprocessing(GoogleXSSIPreprocessor()), CompoundResponseSerializer([decodable]),
        ]
        for serializer in serializers {
            #expect(serializer.refusal(of: try head(200, type: "text/html")) == nil, "\(serializer)")
            #expect(serializer.refusal(of: try head(404))?.code == .badServerResponse, "\(serializer)")
        }
        #expect(DataResponseSerializer().refusal(of: try head(404)) == nil)
    }

    @Test("AF-101 a bad status with content that can be decoded: object and error")
    func decodedFailure() throws {
        let result = JSONResponseSerializer().serialize(
            Data(text: #"{"e":1}"#), response: try head(500, type: "application/json"))
        #expect(result.value == ["e": 1])
        #expect(result.error?.code == .badServerResponse)
        #expect(result.error?.underlying == nil)
    }

    @Test(
        "AF-102 a bad status with content that cannot be decoded: the parser's error, the status underneath")
    func undecodableFailure() throws {
        let result = JSONResponseSerializer().serialize(
            Data(text: "{"), response: try head(500, type: "application/json"))
        #expect(result.value == nil)
        #expect(result.error?.code == .cannotParseResponse)
        #expect(result.error?.domain == .responseSerialization)
        #expect(result.error?.data == Data(text: "{"))
        #expect(result.error?.inner?.code == .badServerResponse)
    }

    @Test("AF-104 a response that is not from HTTP is valid whatever the rules")
    func notHTTP() throws {
        let serializer = HTTPResponseSerializer(validation: ResponseValidation(contentTypes: ["text/html"]))
        #expect(serializer.serialize(Data(text: "x"), response: try head(nil)).error == nil)
        #expect(serializer.serialize(Data(text: "x"), response: nil).error == nil)
    }

    @Test(
        "AF-105 an error with something underneath keeps it; without an outer error the inner one is the result"
    )
    func nesting() {
        let inner = SessionError(.timedOut, "inner")
        let plain = SessionError(.cancelled, "outer")
        let full = SessionError(.cancelled, "outer", underlying: SessionError(.badURL, "first"))
        #expect(SessionError.nesting(inner, in: full)?.inner?.code == .badURL)
        #expect(SessionError.nesting(inner, in: plain)?.inner?.code == .timedOut)
        #expect(SessionError.nesting(inner, in: nil)?.code == .timedOut)
        #expect(SessionError.nesting(nil, in: plain)?.underlying == nil)
        #expect(SessionError.nesting(nil, in: nil) == nil)
    }

    @Test(
        "UPL-555 what is said of a redirect without a target, and of 304, is what is missing",
        arguments: [
            (302, nil, "the server names no Location to go to: ask its operator"),
            (308, nil, "the server names no Location to go to: ask its operator"),
            (302, "/other", "follow redirects, or accept this status"),
            (300, nil, "follow redirects, or accept this status"),
            (304, nil, "keep what was received before, or ask without If-None-Match and If-Modified-Since"),
        ] as [(Int, String?, String)])
    func redirects(_ status: Int, _ location: String?, _ advice: String) throws {
        let response = SessionResponse(
            url: try #require(URL(string: "http://example.com/")), statusCode: status,
            headerFields: location.map { [.location: $0] } ?? [:])
        #expect(base.serialize(Data(), response: response).error?.advice == advice)
    }
}
