// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// Reads the binary format: objects that refer to each other by number, a table of their offsets, and 32
/// bytes at the end that say where that is.
///
/// Hostile documents let an object contain itself, or each contain the next twice, or let objects overlap:
/// depth, the size of what the document stands for, and the bytes that are copied are limited.
struct BinaryPropertyListParser {
    private static let maximumSize = 10_000_000
    private static var maximumDepth: Int { TreeAssembly<PropertyListValue>.maximumDepth }

    private struct Done {
        var value: PropertyListValue
        /// How many values it is made of, itself included.
        var size: Int
        /// How many levels of containers it has, itself included; 0 for a value that contains no others.
        var height: Int
    }

    private var offsetSize = 0
    private var referenceSize = 0
    private var table = 0
    private var objectCount = 0
    private var done: [Int: Done] = [:]
    /// How many bytes may still be read: objects that do not overlap are no longer than the document.
    var budget = 0

    mutating func parse(_ bytes: Span<UInt8>) throws(PropertyListParseError) -> PropertyListValue {
        let trailer = bytes.count - 32
        guard trailer >= 8, let top = readTrailer(bytes, at: trailer) else {
            throw PropertyListParseError(
                "the end of a binary property list makes no sense", at: max(0, trailer))
        }
        budget = bytes.count
        return try object(top, bytes, depth: 0).value
    }

    private mutating func readTrailer(_ bytes: Span<UInt8>, at trailer: Int) -> Int? {
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = bytes.unsigned(at: trailer + 8, size: 8),
            let top = bytes.unsigned(at: trailer + 16, size: 8),
            let start = bytes.unsigned(at: trailer + 24, size: 8), start >= 8, start <= UInt64(trailer),
            top < count, count <= (UInt64(trailer) - start) / UInt64(offsetSize)
        else { return nil }
        table = Int(start)
        objectCount = Int(count)
        return Int(top)
    }

    private mutating func object(
        _ number: Int, _ bytes: Span<UInt8>, depth: Int
    ) throws(PropertyListParseError) -> Done {
        guard number < objectCount,
            let start = bytes.unsigned(at: table + number * offsetSize, size: offsetSize), start >= 8,
            start < UInt64(table)
        else { throw PropertyListParseError("object \(number) is not in the document", at: table) }
        let offset = Int(start)
        if let known = done[offset] {
            // It may have stood less deep before: endless nesting exhausts the stack when it is released.
            guard depth + known.height <= Self.maximumDepth else { throw Self.tooDeep(offset) }
            return known
        }
        let result: Done
        switch bytes[offset] >> 4 {
        case 0xA, 0xB, 0xC, 0xD:
            guard depth < Self.maximumDepth else { throw Self.tooDeep(offset) }
            result = try container(at: offset, bytes, depth: depth)
        default: result = Done(value: try scalar(at: offset, bytes), size: 1, height: 0)
        }
        done[offset] = result
        return result
    }

    private static func tooDeep(_ offset: Int) -> PropertyListParseError {
        PropertyListParseError("too many levels are nested, or an object contains itself", at: offset)
    }

    private mutating func container(
        at offset: Int, _ bytes: Span<UInt8>, depth: Int
    ) throws(PropertyListParseError) -> Done {
        let isDictionary = bytes[offset] >> 4 == 0xD
        let (count, start) = try countedStart(
            at: offset, bytes, unit: isDictionary ? 2 * referenceSize : referenceSize)
        var (size, height) = (1, 0)
        var elements: [PropertyListValue] = []
        var members: [String: PropertyListValue] = [:]
        for index in 0..<count {
            var key = ""
            if isDictionary {
                let found = try referred(bytes, start + index * referenceSize, depth: depth)
                guard case .string(let text) = found.value else {
                    throw PropertyListParseError("a key is no text", at: offset)
                }
                key = text
            }
            let position = start + (isDictionary ? count + index : index) * referenceSize
            let item = try referred(bytes, position, depth: depth)
            size += item.size
            height = max(height, item.height)
            guard size <= Self.maximumSize else {
                throw PropertyListParseError("the objects refer to each other too often", at: offset)
            }
            if isDictionary { members[key] = item.value } else { elements.append(item.value) }
        }
        return Done(
            value: isDictionary ? .dictionary(members) : .array(elements), size: size, height: height + 1)
    }

    private mutating func referred(
        _ bytes: Span<UInt8>, _ position: Int, depth: Int
    ) throws(PropertyListParseError) -> Done {
        guard let number = bytes.unsigned(at: position, size: referenceSize), number < UInt64(objectCount)
        else { throw PropertyListParseError("an object is not in the document", at: position) }
        return try object(Int(number), bytes, depth: depth + 1)
    }
}
