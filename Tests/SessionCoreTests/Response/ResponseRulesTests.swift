// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import TestSupport
import Testing

struct ResponseRulesTests {
    @Test(
        "media types: exact, families, any, suffixes where asked for; case and parameters do not count",
        arguments: [
            ("image/*", "image/png", false, true), ("image/*", "IMAGE/PNG", false, true),
            ("Image/*", "image/png", false, true), ("image/*", "imagex/png", false, false),
            ("*/*", "text/csv", false, true),
            ("application/json", "Application/JSON; charset=utf-8", false, true),
            ("application/json", "application/problem+json", false, false),
            ("application/json", "application/problem+json", true, true),
            ("text/xml", "application/atom+xml", true, true),
            ("application/json", "application/atom+xml", true, false),
            ("application/json", "application/jsonx", false, false), ("json", "json", false, true),
            ("text/html; charset=utf-8", "text/html", false, true),
            ("application/json", "application/+json", true, true),
            ("application/json", "application/problem+", true, false),
        ])
    func mediaTypes(_ range: String, _ type: String, _ suffixes: Bool, _ passes: Bool) throws {
        let validation = ResponseValidation(
            contentTypes: [MediaRange(range)], acceptsStructuredSuffixes: suffixes)
        let result = HTTPResponseSerializer(validation: validation).serialize(
            Data(text: "x"), response: try head(200, type: type))
        #expect((result.error == nil) == passes)
    }

    @Test("status codes: ranges that touch or overlap become one")
    func statusCodes() throws {
        var codes: StatusCodes = [200...299, 304...304, 300...301, 100...150]
        #expect(codes.ranges == [100...150, 200...301, 304...304])
        codes.insert(302)
        codes.insert(303)
        #expect(codes.ranges == [100...150, 200...304])
        #expect(codes.contains(304) && !codes.contains(305) && !codes.contains(199))
        #expect(StatusCodes(200..<200).ranges.isEmpty)
        var edge: StatusCodes = [Int.min...0]
        edge.insert(Int.max)
        #expect(edge.ranges.count == 2)
    }

    @Test("rules are stored and read as they are")
    func archived() throws {
        let validation = ResponseValidation(
            statusCodes: [200...299, 304...304], contentTypes: ["image/*"], acceptsStructuredSuffixes: true)
        let stored = try JSONEncoder().encode(validation)
        #expect(try JSONDecoder().decode(ResponseValidation.self, from: stored) == validation)
        let text = try JSONValue(parsing: stored)
        #expect(text["statusCodes"] == ["200-299", "304"])
        #expect(text["contentTypes"] == ["image/*"])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(StatusCodes.self, from: Data(text: #"["299-200"]"#))
        }
    }

    @Test("a type made of control characters cannot forge a message")
    func hostileType() throws {
        let response = SessionResponse(
            url: try SessionRequest("http://192.0.2.1/").url, statusCode: 200, version: .http1_1,
            headerBlock: Array("Content-Type: a\u{1B}[31m\r\n".utf8))
        let serializer = HTTPResponseSerializer(validation: ResponseValidation(contentTypes: ["text/html"]))
        let error = try #require(serializer.serialize(Data(text: "x"), response: response).error)
        #expect(!error.description.unicodeScalars.contains("\u{1B}"))
    }
}
