// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Testing
import WebSockets

@Suite("Frames of a WebSocket that leave")
struct WebSocketWriterTests {
    /// All that a writer has, taken in pieces.
    private func bytes(_ writer: inout WebSocketWriter, piece: Int = 4096, keys: [UInt32] = [0x37FA_213D])
        -> [UInt8]
    {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: piece, alignment: 1)
        defer { buffer.deallocate() }
        var all: [UInt8] = []
        var used = 0
        while !writer.isEmpty {
            let count = writer.fill(buffer) {
                used += 1
                return keys[(used - 1) % keys.count]
            }
            guard count > 0 else { break }
            all += buffer[..<count]
        }
        return all
    }

    @Test("API-308 The masked example of RFC 6455 §5.7 is written")
    func example() {
        var writer = WebSocketWriter(fragmentSize: 1 << 16)
        writer.send(.text("Hello"))
        #expect(
            bytes(&writer) == [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        #expect(writer.waitingBytes == 0 && writer.waitingMessages == 0)
    }

    @Test(
        "API-309 Lengths are written in the shortest way, and each frame has a key of its own",
        arguments: [0, 1, 125, 126, 65535, 65536, 70001])
    func lengths(count: Int) {
        var writer = WebSocketWriter(fragmentSize: 1 << 20)
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        writer.send(.data(Data(content)))
        writer.send(.data(Data(content)))
        let wire = bytes(&writer, piece: 139, keys: [0x0102_0304, 0xA0B0_C0D0])
        #expect(
            ClientFrame.all(wire) == [
                ClientFrame(first: 0x82, content: content), ClientFrame(first: 0x82, content: content),
            ])
        let head = count <= 125 ? 2 : count <= 0xFFFF ? 4 : 10
        #expect(Array(wire[head..<(head + 4)]) == [1, 2, 3, 4])
        #expect(Array(wire[(2 * head + 4 + count)...].prefix(4)) == [0xA0, 0xB0, 0xC0, 0xD0])
    }

    @Test("API-310 A long message leaves in fragments, and control frames go between them")
    func fragments() {
        var writer = WebSocketWriter(fragmentSize: 200)
        writer.send(.text(String(repeating: "é", count: 250)))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 150, alignment: 1)
        defer { buffer.deallocate() }
        var wire = Array(buffer[..<writer.fill(buffer) { 9 }])
        writer.answerPing([1])
        writer.answerPing([2])
        writer.ping([3])
        wire += bytes(&writer)
        let frames = ClientFrame.all(wire)
        #expect(frames.map(\.first) == [0x01, 0x8A, 0x89, 0x00, 0x80])
        // Of two pings that wait for their answer only the last one gets it.
        #expect(frames[1].content == [2])
        #expect(
            frames.filter { $0.first < 0x88 && $0.first != 0x80 || $0.first == 0x80 }.flatMap(\.content)
                == Array(String(repeating: "é", count: 250).utf8))
    }

    @Test(
        "API-311 A close frame leaves behind the messages, an urgent one before them, and nothing behind it")
    func closing() {
        var writer = WebSocketWriter(fragmentSize: 1 << 16)
        writer.send(.text("a"))
        writer.close(WebSocketClosing(.normal, "done"), isUrgent: false)
        writer.send(.text("b"))
        #expect(
            ClientFrame.all(bytes(&writer)).map(\.content)
                == [Array("a".utf8), Array("b".utf8), [0x03, 0xE8] + Array("done".utf8)])
        let hasClosed = writer.hasClosed
        #expect(hasClosed)
        writer.send(.text("c"))
        let isEmpty = writer.isEmpty
        #expect(isEmpty)

        var failing = WebSocketWriter(fragmentSize: 1 << 16)
        failing.send(.text("a"))
        failing.close(WebSocketClosing(.protocolError), isUrgent: true)
        #expect(ClientFrame.all(bytes(&failing)).map(\.content) == [[0x03, 0xEA]])
        #expect(failing.waitingMessages == 1)
    }

    @Test(
        "API-312 The reason of a close frame is cut between characters, and codes that are never sent are left out"
    )
    func reasons() {
        var writer = WebSocketWriter(fragmentSize: 1 << 16)
        writer.close(WebSocketClosing(.goingAway, String(repeating: "é", count: 100)), isUrgent: false)
        let content = ClientFrame.all(bytes(&writer))[0].content
        #expect(content.count == 124)
        #expect(String(validating: content.dropFirst(2), as: UTF8.self) == String(repeating: "é", count: 61))
        for code: WebSocketCloseCode in [.noStatus, .abnormal, WebSocketCloseCode(rawValue: 7)] {
            var writer = WebSocketWriter(fragmentSize: 1 << 16)
            writer.close(WebSocketClosing(code, "x"), isUrgent: false)
            #expect(ClientFrame.all(bytes(&writer)) == [ClientFrame(first: 0x88, content: [])])
        }
    }

    @Test("API-313 Masking a content in parts is the same as masking it whole", arguments: 0..<9)
    func masking(offset: Int) {
        let content = (0..<64).map { UInt8(truncatingIfNeeded: $0 &* 97 &+ 5) }
        let key: [UInt8] = [0xDE, 0xAD, 0xBE, 0xEF]
        var masked = content
        masked.withUnsafeMutableBytes { bytes in
            WebSocketFrameHead.mask(
                UnsafeMutableRawBufferPointer(rebasing: bytes[..<offset]), key: 0xDEAD_BEEF, from: 0)
            WebSocketFrameHead.mask(
                UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]), key: 0xDEAD_BEEF, from: offset)
        }
        #expect(masked == content.enumerated().map { $1 ^ key[$0 & 3] })
    }
}
