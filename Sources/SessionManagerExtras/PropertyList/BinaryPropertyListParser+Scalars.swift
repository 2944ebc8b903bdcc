// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

extension BinaryPropertyListParser {
    /// Reads a value that contains no others.
    mutating func scalar(at offset: Int, _ bytes: Span<UInt8>) throws(PropertyListParseError)
        -> PropertyListValue
    {
        let marker = bytes[offset]
        let value: PropertyListValue? =
            switch marker >> 4 {
            case 0x0: marker == 8 ? .bool(false) : marker == 9 ? .bool(true) : nil
            case 0x1: integer(at: offset, bytes)
            case 0x2: real(at: offset, bytes)
            case 0x3: marker == 0x33 ? date(at: offset, bytes) : nil
            case 0x4: .data(try content(at: offset, bytes, unit: 1))
            case 0x5: TextEncoding.ascii.decode(try content(at: offset, bytes, unit: 1)).map { .string($0) }
            case 0x6:
                TextEncoding.utf16BigEndian.decode(try content(at: offset, bytes, unit: 2)).map {
                    .string($0)
                }
            case 0x7: TextEncoding.utf8.decode(try content(at: offset, bytes, unit: 1)).map { .string($0) }
            case 0x8: bytes.unsigned(at: offset + 1, size: Int(marker & 0xF) + 1).map { .uid($0) }
            default: nil
            }
        guard let value else { throw PropertyListParseError("a value makes no sense", at: offset) }
        return value
    }

    /// How many units an object has and where they begin, after checking that they are there.
    mutating func countedStart(
        at offset: Int, _ bytes: Span<UInt8>, unit: Int
    ) throws(PropertyListParseError) -> (count: Int, start: Int) {
        var count = UInt64(bytes[offset] & 0xF)
        var start = offset + 1
        if count == 0xF {
            guard let marker = bytes.unsigned(at: start, size: 1), marker >> 4 == 1, marker & 0xF <= 3,
                let long = bytes.unsigned(at: start + 1, size: 1 << Int(marker & 0xF))
            else { throw PropertyListParseError("the length of an object makes no sense", at: offset) }
            count = long
            start += 1 + 1 << Int(marker & 0xF)
        }
        guard start <= bytes.count, count <= UInt64((bytes.count - start) / unit) else {
            throw PropertyListParseError("an object is longer than the document", at: offset)
        }
        budget -= Int(count) * unit
        guard budget >= 0 else { throw PropertyListParseError("objects overlap", at: offset) }
        return (Int(count), start)
    }

    private mutating func content(
        at offset: Int, _ bytes: Span<UInt8>, unit: Int
    ) throws(PropertyListParseError) -> Data {
        let (count, start) = try countedStart(at: offset, bytes, unit: unit)
        return Data(copying: bytes.extracting(start..<(start + count * unit)))
    }

    private func integer(at offset: Int, _ bytes: Span<UInt8>) -> PropertyListValue? {
        let power = Int(bytes[offset] & 0xF)
        guard power <= 4 else { return nil }
        // Numbers of 8 and 16 bytes have a sign, shorter ones have none.
        guard power == 4 else {
            return bytes.unsigned(at: offset + 1, size: 1 << power).map { .integer(Int64(bitPattern: $0)) }
        }
        guard let high = bytes.unsigned(at: offset + 1, size: 8),
            let low = bytes.unsigned(at: offset + 9, size: 8)
        else { return nil }
        switch high {
        case 0: return low > UInt64(Int64.max) ? .unsigned(low) : .integer(Int64(low))
        case .max where Int64(bitPattern: low) < 0: return .integer(Int64(bitPattern: low))
        default: return nil
        }
    }

    private func real(at offset: Int, _ bytes: Span<UInt8>) -> PropertyListValue? {
        switch bytes[offset] {
        case 0x22:
            bytes.unsigned(at: offset + 1, size: 4).map {
                .real(Double(Float(bitPattern: UInt32(truncatingIfNeeded: $0))))
            }
        case 0x23: bytes.unsigned(at: offset + 1, size: 8).map { .real(Double(bitPattern: $0)) }
        default: nil
        }
    }

    private func date(at offset: Int, _ bytes: Span<UInt8>) -> PropertyListValue? {
        guard let bits = bytes.unsigned(at: offset + 1, size: 8) else { return nil }
        let seconds = Double(bitPattern: bits)
        return seconds.isFinite ? .date(Date(timeIntervalSinceReferenceDate: seconds)) : nil
    }
}

extension Data {
    /// A copy of the bytes.
    init(copying bytes: Span<UInt8>) {
        var copy: [UInt8] = []
        copy.reserveCapacity(bytes.count)
        for index in bytes.indices { copy.append(bytes[index]) }
        self.init(copy)
    }
}
