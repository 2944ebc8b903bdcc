// SPDX-License-Identifier: Apache-2.0

import ServiceCore
import Testing

@Suite("Varlink messages")
struct VarlinkFramerTests {
    @Test("bytes are cut at NULs, however they arrive", arguments: 1...9)
    func pieces(size: Int) {
        var framer = VarlinkFramer(limit: 100)
        var messages: [String] = []
        let bytes = Array("first\0\0third one\0rest".utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            framer.append(bytes[start..<min(start + size, bytes.count)])
            while case .message(let message) = framer.next() {
                messages.append(String(decoding: message, as: UTF8.self))
            }
        }
        #expect(messages == ["first", "", "third one"])
        #expect(framer.isInside)
        #expect(framer.count == 4)
    }

    @Test("a message may be as long as the limit, and no longer; it is refused before it ends")
    func limit() {
        var framer = VarlinkFramer(limit: 5)
        framer.append(Array("12345\0".utf8))
        #expect(framer.next() == .message(Array("12345".utf8)))
        #expect(framer.next() == .incomplete)
        #expect(!framer.isInside)
        framer.append(Array("123456".utf8))
        #expect(framer.next() == .tooLong)
    }
}
