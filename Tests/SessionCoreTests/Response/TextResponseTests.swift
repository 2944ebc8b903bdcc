// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import TestSupport
import Testing

struct TextResponseTests {
    private let serializer = StringResponseSerializer()

    @Test(
        "text in the encoding that the response names",
        arguments: [
            ("text/plain; charset=utf-8", [0xC3, 0xBC], "ü"),
            ("text/plain; x=y; CHARSET=\"UTF-8\"", [0xEF, 0xBB, 0xBF, 0xC3, 0xBC], "ü"),
            ("text/plain", [0xFC, 0x80], "ü\u{80}"),
            ("text/plain; charset=windows-1252", [0x80, 0xFC], "€ü"),
            ("text/plain; charset=us-ascii", [0x41], "A"),
            ("text/plain; charset=utf-16", [0xFF, 0xFE, 0xFC, 0], "ü"),
            ("text/plain; charset=utf-16", [0, 0xFC], "ü"),
            ("text/plain; charset=utf-16be", [0xD8, 0x3D, 0xDE, 0x00], "😀"),
            ("text/plain; charset=utf-16le", [0xFC, 0], "ü"),
            ("text/plain; charset=utf-32", [0xFF, 0xFE, 0, 0, 0xFC, 0, 0, 0], "ü"),
            ("text/plain; charset=utf-32be", [0, 1, 0xF6, 0], "😀"), ("text/plain; charset=latin1", [], ""),
        ] as [(String, [UInt8], String)])
    func encodings(_ type: String, _ bytes: [UInt8], _ text: String) throws {
        let result = serializer.serialize(Data(bytes), response: try head(type: type))
        #expect(result.error == nil)
        #expect(result.value == text)
    }

    @Test(
        "bytes that are not of the encoding, and encodings that are not known, are errors",
        arguments: [
            ("utf-8", [0xFF]), ("us-ascii", [0x80]), ("utf-16", [0x00]), ("utf-16be", [0xD8, 0x00]),
            ("utf-32be", [0, 0, 0xD8, 0]),
            ("utf-32", [0, 0, 0]), ("utf-32le", [0, 0, 0x11, 0]), ("koi8-r", [0x41]),
        ] as [(String, [UInt8])])
    func invalid(_ charset: String, _ bytes: [UInt8]) throws {
        let result = serializer.serialize(
            Data(bytes), response: try head(type: "text/plain; charset=\(charset)"))
        #expect(result.value == nil)
        #expect(result.error?.code == .cannotParseResponse)
        #expect(result.error?.message.contains(charset) == true)
    }

    @Test("the serializer's own encoding comes first; no content is no text")
    func own() throws {
        let own = StringResponseSerializer(encoding: .utf8)
        let response = try head(type: "text/plain; charset=koi8-r")
        #expect(own.serialize(Data([0xC3, 0xBC]), response: response).value == "ü")
        #expect(own.serialize(nil, response: response).value == nil)
        #expect(own.serialize(nil, response: response).error == nil)
        let stored = try JSONEncoder().encode(own)
        #expect(try JSONDecoder().decode(StringResponseSerializer.self, from: stored) == own)
    }
}
