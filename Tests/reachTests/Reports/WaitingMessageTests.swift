// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import reach

@Suite("What is said while something blocks", .timeLimit(.minutes(10)))
struct WaitingMessageTests {
    @Test("a message is printed after a moment")
    func reported() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let message = WaitingMessage(
            "looking up a name", after: 1, on: StandardStream(descriptor: ends[1]), isSeen: true)
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(ends[0], &bytes, bytes.count)
        #expect(
            String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == "reach: looking up a name\n")
        message.end()
    }

    @Test("a short wait, or one without a terminal, prints nothing", arguments: [(60_000, true), (0, false)])
    func quiet(delay: Int32, isSeen: Bool) throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        WaitingMessage("nothing", after: delay, on: StandardStream(descriptor: ends[1]), isSeen: isSeen).end()
        close(ends[1])
        var byte: UInt8 = 0
        #expect(read(ends[0], &byte, 1) == 0)
    }
}
