// SPDX-License-Identifier: Apache-2.0

import Glibc
import ReachabilityCore
import Testing

/// Addresses as text: RFC 5952, and the C library's inet_ntop(3) where both agree.
struct IPAddressTextTests {
    @Test(
        "The canonical text of RFC 5952",
        arguments: [
            "::", "::1", "1::", "fe80::1", "2001:db8::1:0:0:1", "2001:0:0:1::1", "2001:db8:0:1:1:1:1:1",
            "2001:db8:aaaa:bbbb:cccc:dddd:eeee:1", "::ffff:192.0.2.1", "::ffff:0.0.0.0", "::ffff", "::1:2",
            "0.0.0.0", "192.0.2.1", "255.255.255.255", "10.0.100.7",
        ])
    func canonical(_ text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == text)
        var line = TextLine()
        line.append("[")
        line.append(address)
        line.append("]")
        #expect(line.text == "[\(text)]")
    }

    @Test(
        "The bytes of an address make the address again, wherever they lie",
        arguments: ["192.0.2.1", "255.0.0.254", "2001:db8::8:800:200c:417a", "::1", "fe80::ff00:0:1"])
    func bytes(_ text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(IPAddress(bytes: address.bytes) == address)
        #expect(IPAddress(bytes: address.bytes.lazy.map { $0 }) == address)
        for shift in 0..<8 {
            let memory = [UInt8](repeating: 0xEE, count: shift) + address.bytes + [0xEE]
            let part = memory.span.bytes.extracting(shift..<shift + address.bytes.count)
            #expect(IPAddress(raw: part) == address)
        }
        #expect(IPAddress(bytes: address.bytes.dropLast()) == nil)
        #expect(IPAddress(bytes: address.bytes + [0]) == nil)
    }

    @Test("No bytes are no address")
    func noBytes() { #expect(IPAddress(bytes: []) == nil) }

    @Test("Each pattern of zero groups is written as the C library writes it")
    func patterns() throws {
        for mask in 0..<256 {
            for value: UInt16 in [1, 0x10, 0x100, 0xABCD] {
                let groups = (0..<8).map { mask >> $0 & 1 == 1 ? value : 0 }
                // inet_ntop(3) writes the obsolete IPv4-compatible addresses differently.
                guard groups[..<6].contains(where: { $0 != 0 }) else { continue }
                var bytes = groups.flatMap {
                    [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)]
                }
                var text = [CChar](repeating: 0, count: 64)
                _ = inet_ntop(AF_INET6, &bytes, &text, socklen_t(text.count))
                let expected = String(
                    decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                let high = groups[..<4].reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
                let low = groups[4...].reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
                let address = IPAddress(v6High: high, low: low)
                #expect(address.description == expected)
                #expect(IPAddress(expected) == address)
            }
        }
    }
}
