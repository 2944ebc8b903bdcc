// SPDX-License-Identifier: Apache-2.0

extension IPAddress: CustomStringConvertible, LosslessStringConvertible {
    /// Dotted decimal for IPv4; the canonical text of RFC 5952 for IPv6.
    public var description: String { text(prefixLength: nil) }

    /// `address/length`, as `ip address` shows it; a short text needs no allocation.
    func text(prefixLength length: UInt8?) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.longestText) { room in
            let count = write(to: room, prefixLength: length)
            return String(unsafeUninitializedCapacity: count) { text in
                for index in 0..<count { text[index] = room[index] }
                return count
            }
        }
    }

    /// Reads dotted decimal (four parts, no leading zeros) or IPv6 text (RFC 4291 §2.2), and nothing else.
    ///
    /// Brackets, zones and prefix lengths are not part of an address and are refused.
    public init?(_ description: String) {
        if description.utf8.contains(UInt8(ascii: ":")) {
            self.init(v6Text: description)
        } else {
            guard let bits = Self.dottedDecimal(description[...]) else { return nil }
            self.init(v4: bits)
        }
    }

    /// Reads the bytes one by one, since each request to an address literal asks.
    private static func dottedDecimal(_ text: Substring) -> UInt32? {
        var (bits, part, digits, dots): (UInt32, UInt32, Int, Int) = (0, 0, 0, 0)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                // A zero in front may mean octal to others.
                guard digits == 0 || part > 0 else { return nil }
                part = part * 10 + UInt32(byte & 15)
                digits += 1
                guard part <= 255 else { return nil }
            case UInt8(ascii: "."):
                guard digits > 0 else { return nil }
                bits = bits << 8 | part
                (part, digits, dots) = (0, 0, dots + 1)
                guard dots <= 3 else { return nil }
            default: return nil
            }
        }
        return dots == 3 && digits > 0 ? bits << 8 | part : nil
    }

    private init?(v6Text text: String) {
        guard text.utf8.count <= 45 else { return nil }
        var halves: [[UInt64]] = []
        let pieces = Self.splitOnGap(text)
        guard pieces.count <= 2 else { return nil }
        for (index, piece) in pieces.enumerated() {
            guard let groups = Self.groups(piece, mayEndInIPv4: index == pieces.count - 1) else { return nil }
            halves.append(groups)
        }
        let present = halves.reduce(0) { $0 + $1.count }
        guard pieces.count == 1 ? present == 8 : present <= 7 else { return nil }
        let gap = pieces.count == 2 ? [UInt64](repeating: 0, count: 8 - present) : []
        let all = halves[0] + gap + (halves.count == 2 ? halves[1] : [])
        self.init(v6High: all[..<4].reduce(0) { $0 << 16 | $1 }, low: all[4...].reduce(0) { $0 << 16 | $1 })
    }

    /// The text before and after each "::".
    private static func splitOnGap(_ text: String) -> [Substring] {
        var pieces: [Substring] = []
        var start = text.startIndex
        var index = start
        while index < text.endIndex {
            let next = text.index(after: index)
            if next < text.endIndex, text[index] == ":", text[next] == ":" {
                pieces.append(text[start..<index])
                start = text.index(after: next)
                index = start
            } else {
                index = next
            }
        }
        return pieces + [text[start...]]
    }

    private static func groups(_ text: Substring, mayEndInIPv4: Bool) -> [UInt64]? {
        guard !text.isEmpty else { return [] }
        var groups: [UInt64] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if mayEndInIPv4, index == parts.count - 1, part.utf8.contains(UInt8(ascii: ".")) {
                guard let bits = dottedDecimal(part) else { return nil }
                groups += [UInt64(bits >> 16), UInt64(bits & 0xFFFF)]
            } else {
                guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy(isHexDigit),
                    let value = UInt64(part, radix: 16)
                else { return nil }
                groups.append(value)
            }
        }
        return groups
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
    }
}

/// One address of a monitored host.
package struct ReachabilityDestination: Sendable, Equatable {
    package var address: IPAddress
    /// The interface name after `%`, for an address that differs by link (RFC 4007 §11).
    package var zone: String?

    package init(_ address: IPAddress, zone: String? = nil) {
        self.address = address.connected
        self.zone = zone
    }

    /// Reads `address` or `address%zone`, also in brackets; nil for anything else, and for a zone on an
    /// address without one.
    package init?(_ given: String) {
        var text = given[...]
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        if isBracketed { text = text.dropFirst().dropLast() }
        var parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        guard parts.count == 2 else {
            self.init(address)
            return
        }
        // In a URL the percent sign is encoded (RFC 6874 §2).
        if isBracketed, parts[1].hasPrefix("25"), parts[1] != "25" { parts[1] = parts[1].dropFirst(2) }
        // IFNAMSIZ (linux/if.h) leaves 15 bytes for a name.
        guard address.staysOnLink, address.family == .ipv6, (1...15).contains(parts[1].utf8.count) else {
            return nil
        }
        self.init(address, zone: String(parts[1]))
    }

    /// `address` or `address%zone`.
    package var text: String { zone.map { "\(address)%\($0)" } ?? address.description }
}
