// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import Testing

@Suite("Questions to name servers")
struct DNSMessageTests {
    private static let question: [UInt8] =
        [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3] + Array("www".utf8) + [7] + Array("example".utf8)
        + [0, 0, 1, 0, 1]

    private func answer(
        _ flags: [UInt8] = [0x81, 0x80], count: UInt8, _ records: [UInt8], question: [UInt8] = Self.question
    ) -> [UInt8] {
        // Step by step: Swift 6.2 gives up on one expression.
        var message = Array(question[..<2])
        message += flags
        message += [0, 1, 0, count, 0, 0, 0, 0]
        message += question[12...]
        return message + records
    }

    private func record(_ type: UInt8, _ data: [UInt8], name: [UInt8] = [0xC0, 12]) -> [UInt8] {
        name + [0, type, 0, 1, 0, 0, 0, 60, 0, UInt8(data.count)] + data
    }

    @Test("UPL-040 A question is written as RFC 1035 has it, and names that cannot be are refused")
    func question() {
        #expect(DNSMessage.question("www.example", .ipv4, id: 0x1234) == Self.question)
        #expect(DNSMessage.question("www.example.", .ipv4, id: 0x1234) == Self.question)
        #expect(DNSMessage.question("a", .ipv6, id: 0)?.suffix(4) == [0, 28, 0, 1])
        for name in ["", ".", "a..b", ".a", "a b", String(repeating: "a", count: 64), "ä.example"] {
            #expect(DNSMessage.question(name, .ipv4, id: 0) == nil, "\(name)")
        }
        let long = Array(repeating: String(repeating: "a", count: 63), count: 4).joined(separator: ".")
        #expect(DNSMessage.question(long, .ipv4, id: 0) == nil)
    }

    @Test("UPL-041 Addresses are read past aliases, and in any case of letters")
    func addresses() {
        let records =
            record(5, [1, 0x61, 0]) + record(1, [192, 0, 2, 1])
            + record(1, [192, 0, 2, 2], name: [1, 0x61, 0])
        var message = answer(count: 3, records)
        #expect(
            DNSMessage.answer(message, to: Self.question)
                == .addresses([IPAddress("192.0.2.1"), IPAddress("192.0.2.2")].compactMap(\.self)))
        message[13] = UInt8(ascii: "W")
        #expect(DNSMessage.answer(message, to: Self.question) != nil)
        let six = record(28, [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1])
        #expect(
            DNSMessage.answer(answer(count: 1, six), to: Self.question)
                == .addresses([IPAddress("2001:db8::1")].compactMap(\.self)))
    }

    @Test("UPL-042 Another question's answer is none, and refusals are told apart")
    func refusals() {
        let other = DNSMessage.question("www.example", .ipv6, id: 0x1234) ?? []
        #expect(DNSMessage.answer(answer(count: 0, []), to: other) == nil)
        #expect(DNSMessage.answer(answer([1, 0], count: 0, []), to: Self.question) == nil)
        #expect(DNSMessage.answer(answer([0x81, 0x83], count: 0, []), to: Self.question) == .noSuchName)
        #expect(DNSMessage.answer(answer([0x81, 0x82], count: 0, []), to: Self.question) == .failure)
        #expect(DNSMessage.answer(answer(count: 0, []), to: Self.question) == .addresses([]))
        #expect(DNSMessage.answer([], to: Self.question) == nil)
        #expect(DNSMessage.code(answer([0x81, 0x85], count: 0, []), to: Self.question) == 5)
        #expect(DNSMessage.code(answer([0x81, 0x85], count: 0, []), to: other) == nil)
    }

    @Test("UPL-515 A truncated answer without addresses is a failure, not a name without any")
    func truncated() {
        let flags: [UInt8] = [0x83, 0x80]
        #expect(DNSMessage.answer(answer(flags, count: 0, []), to: Self.question) == .failure)
        #expect(
            DNSMessage.answer(answer(flags, count: 1, record(1, [192, 0, 2, 1])), to: Self.question)
                == .addresses([IPAddress("192.0.2.1")].compactMap(\.self)))
    }

    @Test("UPL-043 Cut and forged answers give the addresses before the fault, and never more")
    func malformed() {
        let whole = answer(count: 2, record(1, [192, 0, 2, 1]) + record(1, [192, 0, 2, 2]))
        for length in 0..<whole.count {
            let cut = DNSMessage.answer(Array(whole[..<length]), to: Self.question)
            guard case .addresses(let found)? = cut else {
                #expect(cut == nil)
                continue
            }
            #expect(found.count <= 1)
        }
        // A length of a record that is none of an address.
        #expect(
            DNSMessage.answer(answer(count: 1, record(1, [192, 0, 2])), to: Self.question) == .addresses([]))
        let long = record(1, [UInt8](repeating: 1, count: 16))
        #expect(DNSMessage.answer(answer(count: 1, long), to: Self.question) == .addresses([]))
        // A name that leads nowhere.
        #expect(
            DNSMessage.answer(answer(count: 1, record(1, [1, 2, 3, 4], name: [0x80])), to: Self.question)
                == .addresses([]))
    }
}
