// SPDX-License-Identifier: Apache-2.0

/// Questions to a name server for the addresses of a name, and its answers (RFC 1035 §4).
package enum DNSMessage {
    /// The record types: A (RFC 1035 §3.2.2) and AAAA (RFC 3596 §2.1).
    package enum RecordType: UInt16, Sendable, CaseIterable {
        case ipv4 = 1
        case ipv6 = 28
    }

    /// What an answer says.
    package enum Answer: Sendable, Equatable {
        /// The addresses; none where the name has none of this kind.
        case addresses([IPAddress])
        /// No such name (RCODE 3).
        case noSuchName
        /// The server cannot or will not answer.
        case failure
    }

    private static let internetClass: UInt16 = 1
    private static let headerLength = 12

    /// The question; nil for a name that cannot be asked for (RFC 1035 §2.3.4).
    package static func question(_ name: String, _ type: RecordType, id: UInt16) -> [UInt8]? {
        var bytes: [UInt8] = []
        // Recursion desired; one question.
        for number in [id, 0x0100, 1, 0, 0, 0] { bytes.append(number: number) }
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        // A final point says that the name is complete.
        let parts = labels.last?.isEmpty == true ? labels.dropLast() : labels[...]
        guard !parts.isEmpty, name.utf8.count <= 254 else { return nil }
        for label in parts {
            guard (1...63).contains(label.count), label.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                return nil
            }
            bytes.append(UInt8(label.count))
            bytes += label
        }
        bytes.append(0)
        bytes.append(number: type.rawValue)
        bytes.append(number: internetClass)
        return bytes
    }

    /// The code of an answer (RCODE, RFC 1035 §4.1.1); nil for what is no answer to the question.
    package static func code(_ bytes: [UInt8], to question: [UInt8]) -> UInt8? {
        guard bytes.count >= question.count, question.count > headerLength,
            bytes[0] == question[0], bytes[1] == question[1], bytes[2] & 0xF8 == 0x80
        else { return nil }
        // The question is repeated; names do not depend on case.
        let same = zip(bytes[headerLength...], question[headerLength...]).allSatisfy {
            $0 == $1 || isLetter($0) && $0 ^ $1 == 0x20
        }
        return number(bytes, 4) == 1 && same ? bytes[3] & 0x0F : nil
    }

    /// The answer to a question; nil for what is none.
    package static func answer(_ bytes: [UInt8], to question: [UInt8]) -> Answer? {
        guard let code = code(bytes, to: question) else { return nil }
        switch code {
        case 0:
            let found = addresses(bytes, from: question.count)
            // Truncated (TC, RFC 1035 §4.1.1): addresses may be missing, and none does not mean that none
            // exists.
            return found.isEmpty && bytes[2] & 0x02 != 0 ? .failure : .addresses(found)
        case 3: return .noSuchName
        default: return .failure
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// The addresses among the answers, until the first malformed one.
    private static func addresses(_ bytes: [UInt8], from start: Int) -> [IPAddress] {
        var found: [IPAddress] = []
        var offset = start
        for _ in 0..<(number(bytes, 6) ?? 0) {
            guard let end = skipName(bytes, offset), let type = number(bytes, end),
                let length = number(bytes, end + 8), end + 10 + Int(length) <= bytes.count
            else { break }
            let data = bytes[(end + 10)..<(end + 10 + Int(length))]
            let expected = RecordType(rawValue: type) == .ipv4 ? 4 : 16
            if RecordType(rawValue: type) != nil, number(bytes, end + 2) == internetClass,
                data.count == expected, let address = IPAddress(bytes: Array(data))
            {
                found.append(address)
            }
            offset = end + 10 + Int(length)
        }
        return found
    }

    /// Where a name ends that may be compressed (RFC 1035 §4.1.4).
    private static func skipName(_ bytes: [UInt8], _ start: Int) -> Int? {
        var offset = start
        while offset < bytes.count {
            let length = bytes[offset]
            if length == 0 { return offset + 1 }
            if length & 0xC0 == 0xC0 { return offset + 2 }
            guard length & 0xC0 == 0 else { return nil }
            offset += 1 + Int(length)
        }
        return nil
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt16? {
        guard offset >= 0, offset + 2 <= bytes.count else { return nil }
        return UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1])
    }
}

extension [UInt8] {
    /// Appends a number, the high byte first.
    fileprivate mutating func append(number: UInt16) {
        append(UInt8(number >> 8))
        append(UInt8(truncatingIfNeeded: number))
    }
}
