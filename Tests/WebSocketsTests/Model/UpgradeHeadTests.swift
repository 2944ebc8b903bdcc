// SPDX-License-Identifier: Apache-2.0

import Testing
import WebSockets

@Suite("The head of an answer to an upgrade")
struct UpgradeHeadTests {
    /// Reads bytes in pieces; the heads, and how many bytes of the last piece are left.
    private func read(_ text: String, piece: Int, limit: Int = 1000) -> (
        heads: [String], rest: String, UpgradeHead
    ) {
        var head = UpgradeHead(limit: limit)
        var heads: [String] = []
        var rest = ""
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty, !head.isBroken {
            let part = Array(bytes.prefix(piece))
            bytes = bytes.dropFirst(piece)
            var position = 0
            part.withUnsafeBytes { part in
                while heads.count < 2, let lines = head.next(part, &position) {
                    heads.append(String(decoding: lines, as: UTF8.self))
                }
            }
            if heads.count == 2 { rest += String(decoding: part[position...], as: UTF8.self) }
        }
        return (heads, rest, head)
    }

    @Test(
        "API-450 Heads come in pieces of any size, and what follows them is left",
        arguments: [1, 2, 5, 7, 4096])
    func pieces(piece: Int) {
        let interim = "HTTP/1.1 103 Early Hints\nLink: <a>\n"
        let answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
        let (heads, rest, head) = read("\(interim)\n\(answer)\r\n\u{1}frames", piece: piece)
        #expect(heads == [interim, answer])
        #expect(rest == "\u{1}frames" && !head.isBroken)
    }

    @Test(
        "API-595 A folded line continues the one before (RFC 9112 §5.2)", arguments: [1, 2, 5, 7, 4096])
    func folded(piece: Int) {
        let start = "HTTP/1.1 101 Switching\r\n\tProtocols\r\nUpgrade:\r\n websocket\r\nA: b\n\tc\n \r\n"
        let joined = "HTTP/1.1 101 Switching  \tProtocols\r\nUpgrade:   websocket\r\nA: b \tc  \r\n"
        let (heads, _, head) = read("\(start)\r\n", piece: piece)
        #expect(heads == [joined] && !head.isBroken)
    }

    @Test(
        "API-451 What is no head, or too long a one, is not waited for",
        arguments: [
            ("SSH-2.0-x", 1), ("HTTQ", 4), ("HTTP/1.1 101\r\nA\0", 16),
            ("HTTP/1.1 101\r\n" + String(repeating: "a", count: 100), 41),
        ])
    func broken(text: String, last: Int) {
        let early = read(String(decoding: text.utf8.prefix(last - 1), as: UTF8.self), piece: 1, limit: 40)
        #expect(!early.2.isBroken && early.heads.isEmpty)
        #expect(read(String(decoding: text.utf8.prefix(last), as: UTF8.self), piece: 1, limit: 40).2.isBroken)
    }

    @Test("API-452 Of a refusal's content is read what it announces, at most 64 KiB")
    func content() {
        var head = UpgradeHead(limit: 1000)
        #expect(head.contentLeft(of: 0) == 0)
        #expect(head.contentLeft(of: 10) == 10)
        #expect(head.contentLeft(of: .max) == 64 << 10)
        head.contentCame(4)
        #expect(head.contentLeft(of: 10) == 6)
        #expect(head.contentLeft(of: .max) == (64 << 10) - 4)
    }
}
