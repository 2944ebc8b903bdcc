// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Testing
import WebSockets

@Suite("Frames of a WebSocket that come")
struct WebSocketDecoderTests {
    private let hello = Array("Hello".utf8)

    @Test(
        "API-300 The examples of RFC 6455 §5.7 are read, in pieces of any size",
        arguments: [1, 2, 3, 7, 4096])
    func examples(piece: Int) {
        let wire: [UInt8] =
            [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F]
            + [0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F]
            + [0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F]
            + [0x82, 0x7E, 0x01, 0x00] + Array(repeating: 7, count: 256)
            + [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + Array(repeating: 8, count: 65536)
        #expect(
            decode(wire, piece: piece) == [
                .message(.text("Hello")), .message(.text("Hello")), .ping(hello),
                .message(.data(Data(repeating: 7, count: 256))),
                .message(.data(Data(repeating: 8, count: 65536))),
            ])
    }

    @Test("API-301 Control frames come between the fragments of a message", arguments: [1, 5, 4096])
    func interleaved(piece: Int) {
        let wire =
            frame(0x01, Array("He".utf8)) + frame(0x89, [1]) + frame(0x00, []) + frame(0x8A, [2, 3])
            + frame(0x80, Array("y".utf8)) + frame(0x82, [])
        #expect(
            decode(wire, piece: piece) == [
                .ping([1]), .pong([2, 3]), .message(.text("Hey")), .message(.data(Data())),
            ])
    }

    @Test("API-302 A character may be split between fragments", arguments: [1, 2, 4096])
    func splitCharacter(piece: Int) {
        let text = Array("κόσμε 🚲".utf8)
        for cut in 0...text.count {
            let wire = frame(0x01, Array(text[..<cut])) + frame(0x80, Array(text[cut...]))
            #expect(decode(wire, piece: piece) == [.message(.text("κόσμε 🚲"))])
        }
    }

    @Test(
        "API-303 What breaks the protocol is refused, and nothing is read behind it",
        arguments: [
            (frame(0xC1, []), WebSocketViolation.reservedBits), (frame(0xA1, []), .reservedBits),
            (frame(0x91, []), .reservedBits), (frame(0x83, []), .unknownOpcode(3)),
            (frame(0x87, []), .unknownOpcode(7)), (frame(0x8B, []), .unknownOpcode(11)),
            (frame(0x8F, []), .unknownOpcode(15)), ([0x81, 0x85, 1, 2, 3, 4], .maskedFrame),
            (frame(0x09, []), .fragmentedControl), (frame(0x08, []), .fragmentedControl),
            ([0x89, 0x7E, 0, 126], .longControl(126)), ([0x88, 0x7F], .longControl(127)),
            (frame(0x80, []), .strayContinuation), (frame(0x00, [1]), .strayContinuation),
            (frame(0x01, [65]) + frame(0x81, [66]), .interruptedMessage),
            (frame(0x02, [65]) + frame(0x82, [66]), .interruptedMessage),
            (frame(0x82, [], length: [126, 0, 125]), .badLength),
            (frame(0x82, [], length: [127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]), .badLength),
            (frame(0x82, [], length: [127, 0x80, 0, 0, 0, 0, 0, 0, 0]), .badLength),
            (frame(0x88, [3]), .badClose),
        ])
    func violations(wire: [UInt8], violation: WebSocketViolation) {
        #expect(decode(wire + frame(0x81, [65])) == [.violation(violation)])
        #expect(decode(wire + frame(0x81, [65]), piece: 1) == [.violation(violation)])
        #expect(violation.code == .protocolError)
        #expect(violation.sentence.utf8.count <= 123)
    }

    @Test("API-304 Codes of close frames are those that may be sent, and the reason is UTF-8")
    func closeCodes() {
        for code: UInt16 in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1014, 3000, 4999] {
            let wire = frame(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array("bye".utf8))
            #expect(decode(wire) == [.close(WebSocketClosing(WebSocketCloseCode(rawValue: code), "bye"))])
        }
        for code: UInt16 in [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535] {
            let wire = frame(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)])
            #expect(decode(wire) == [.violation(.badCloseCode(code))])
        }
        #expect(decode(frame(0x88, [])) == [.close(WebSocketClosing(.noStatus))])
        #expect(decode(frame(0x88, [0x03, 0xE8, 0xC3])) == [.violation(.badText)])
        // Nothing is read behind a close frame.
        #expect(decode(frame(0x88, []) + frame(0x81, [65])) == [.close(WebSocketClosing(.noStatus))])
    }

    @Test(
        "API-305 Text that is not UTF-8 is refused at its first wrong byte",
        arguments: [
            [0xFF], [0x80], [0xC0, 0xAF], [0xC1, 0x81], [0xE0, 0x80, 0xAF], [0xE0, 0x9F, 0xBF],
            [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0xAF], [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xC3, 0x28], [0xE2, 0x82, 0x28],
        ] as [[UInt8]])
    func badText(bytes: [UInt8]) {
        let content = Array("κόσμε and some ASCII text".utf8) + bytes
        #expect(decode(frame(0x81, content)) == [.violation(.badText)])
        #expect(decode(frame(0x81, content), piece: 1) == [.violation(.badText)])
        // Found before the message is whole: the rest of this one never comes.
        #expect(decode(frame(0x01, content) + [0x00]) == [.violation(.badText)])
        #expect(String(validating: content, as: UTF8.self) == nil)
        #expect(WebSocketViolation.badText.code == .invalidData)
    }

    @Test("API-306 A text may not end in the middle of a character")
    func cutText() {
        #expect(decode(frame(0x81, [0xCE])) == [.violation(.badText)])
        #expect(decode(frame(0x01, [65]) + frame(0x80, [0xF0, 0x9F, 0x9A])) == [.violation(.badText)])
    }

    @Test("API-307 A message that is too long is refused before it comes")
    func tooLong() {
        #expect(decode(frame(0x82, [1, 2, 3, 4]), limit: 4) == [.message(.data(Data([1, 2, 3, 4])))])
        #expect(decode([0x82, 5], limit: 4) == [.violation(.tooLong(limit: 4))])
        #expect(
            decode([0x82, 127, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], limit: 4)
                == [.violation(.tooLong(limit: 4))])
        #expect(decode(frame(0x02, [1, 2, 3]) + [0x80, 2], limit: 4) == [.violation(.tooLong(limit: 4))])
        #expect(WebSocketViolation.tooLong(limit: 4).code == .messageTooBig)
        // The next message has the whole room again.
        let pair = frame(0x02, [1, 2]) + frame(0x80, [3, 4]) + frame(0x82, [5, 6, 7, 8])
        #expect(decode(pair, limit: 4).count == 2)
    }
}
