// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// Reads the XML format.
///
/// No entities are expanded but those that XML itself has, and nothing is fetched.
struct XMLPropertyListParser {
    private var tree = TreeAssembly<PropertyListValue>()
    private var position = 0

    mutating func parse(_ bytes: Span<UInt8>) throws(PropertyListParseError) -> PropertyListValue {
        try skipMisc(bytes)
        let isWrapped = try skipOpening("plist", bytes)
        var result: PropertyListValue?
        while result == nil {
            try skipMisc(bytes)
            guard let complete = try readElement(bytes) else { continue }
            if tree.isInDictionary == nil { result = complete } else { tree.add(complete) }
        }
        try skipMisc(bytes)
        if isWrapped {
            try expect("</plist", bytes)
            try closeTag(bytes)
            try skipMisc(bytes)
        }
        guard position == bytes.count, let result else { throw fault("something follows the document") }
        return result
    }

    /// Reads an element or a tag: a value that is complete, or nil.
    private mutating func readElement(_ bytes: Span<UInt8>) throws(PropertyListParseError)
        -> PropertyListValue?
    {
        let start = position
        try expect("<", bytes)
        let isEnd = consume("/", bytes)
        let name = readName(bytes)
        if isEnd {
            try closeTag(bytes)
            guard let isDictionary = tree.isInDictionary, name == (isDictionary ? "dict" : "array"),
                !tree.lacksValue
            else { throw PropertyListParseError("an end does not fit", at: start) }
            return tree.close()
        }
        let isKey = name == "key"
        if tree.isInDictionary == true, isKey == tree.lacksValue {
            throw PropertyListParseError("keys and values do not alternate", at: start)
        }
        let isEmpty = try endOfOpening(bytes)
        switch name {
        case "dict", "array":
            guard tree.open(dictionary: name == "dict") else {
                throw PropertyListParseError("too many levels are nested", at: start)
            }
            return isEmpty ? tree.close() : nil
        case "true", "false":
            if !isEmpty { try finish(name, bytes) }
            return .bool(name == "true")
        case "key" where tree.isInDictionary == true:
            tree.add(key: try text(name, bytes, isEmpty))
            return nil
        default:
            let text = try text(name, bytes, isEmpty)
            guard let value = Self.scalar(name, text) else {
                throw PropertyListParseError("<\(name)> makes no sense here", at: start)
            }
            return value
        }
    }

    private mutating func text(
        _ name: String, _ bytes: Span<UInt8>, _ isEmpty: Bool
    ) throws(PropertyListParseError) -> String {
        if isEmpty { return "" }
        let start = position
        var text: [UInt8] = []
        while true {
            guard position < bytes.count else {
                throw PropertyListParseError("<\(name)> has no end", at: start)
            }
            if bytes.holds("<![CDATA[", at: position) {
                position += 9
                while position < bytes.count, !bytes.holds("]]>", at: position) {
                    text.append(bytes[position])
                    position += 1
                }
                try expect("]]>", bytes)
            } else if bytes.holds("<!--", at: position) {
                try skip(past: "-->", bytes)
            } else if bytes[position] == UInt8(ascii: "<") {
                break
            } else if bytes[position] == UInt8(ascii: "&") {
                try readReference(bytes, into: &text)
            } else {
                text.append(bytes[position])
                position += 1
            }
        }
        try finish(name, bytes)
        guard let valid = String(validating: text, as: UTF8.self) else {
            throw PropertyListParseError("the bytes are no UTF-8", at: start)
        }
        return valid
    }

    private mutating func finish(_ name: String, _ bytes: Span<UInt8>) throws(PropertyListParseError) {
        skipBlanks(bytes)
        let start = position
        try expect("</", bytes)
        guard readName(bytes) == name else {
            throw PropertyListParseError("</\(name)> is expected", at: start)
        }
        try closeTag(bytes)
    }

    private mutating func readReference(
        _ bytes: Span<UInt8>, into text: inout [UInt8]
    ) throws(PropertyListParseError) {
        let start = position
        var name: [UInt8] = []
        position += 1
        while position < bytes.count, bytes[position] != UInt8(ascii: ";"), name.count < 12 {
            name.append(bytes[position])
            position += 1
        }
        let scalar: Unicode.Scalar? =
            switch String(decoding: name, as: UTF8.self) {
            case "lt": "<"
            case "gt": ">"
            case "amp": "&"
            case "quot": "\""
            case "apos": "'"
            case let number where number.hasPrefix("#x"):
                UInt32(number.dropFirst(2), radix: 16).flatMap { Unicode.Scalar($0) }
            case let number where number.hasPrefix("#"):
                UInt32(number.dropFirst()).flatMap { Unicode.Scalar($0) }
            default: nil
            }
        guard consume(";", bytes), let scalar, let units = UTF8.encode(scalar) else {
            throw PropertyListParseError("there is no such entity", at: start)
        }
        text.append(contentsOf: units)
    }

    // MARK: Tags

    /// Skips the tag that opens the element, if it is there.
    private mutating func skipOpening(
        _ name: StaticString, _ bytes: Span<UInt8>
    ) throws(PropertyListParseError) -> Bool {
        let start = position
        guard consume("<", bytes), readName(bytes) == "\(name)" else {
            position = start
            return false
        }
        if try endOfOpening(bytes) { throw PropertyListParseError("the document is empty", at: start) }
        return true
    }

    /// Skips attributes and the end of an opening tag: true for `/>`.
    private mutating func endOfOpening(_ bytes: Span<UInt8>) throws(PropertyListParseError) -> Bool {
        while position < bytes.count, bytes[position] != UInt8(ascii: ">") {
            if bytes[position] == UInt8(ascii: "/") {
                position += 1
                try expect(">", bytes)
                return true
            }
            if bytes[position] == UInt8(ascii: "<") { throw fault("a tag has no end") }
            if bytes[position] == UInt8(ascii: "\"") || bytes[position] == UInt8(ascii: "'") {
                guard let quote = bytes.firstOffset(of: bytes[position], from: position + 1) else {
                    throw fault("an attribute has no end")
                }
                position = quote
            }
            position += 1
        }
        try expect(">", bytes)
        return false
    }

    private mutating func closeTag(_ bytes: Span<UInt8>) throws(PropertyListParseError) {
        skipBlanks(bytes)
        try expect(">", bytes)
    }

    private mutating func readName(_ bytes: Span<UInt8>) -> String {
        var name: [UInt8] = []
        while position < bytes.count, name.count < 16, (0x61...0x7A).contains(bytes[position] | 0x20) {
            name.append(bytes[position])
            position += 1
        }
        return String(decoding: name, as: UTF8.self)
    }

    /// Skips blanks, comments, instructions and the document type.
    private mutating func skipMisc(_ bytes: Span<UInt8>) throws(PropertyListParseError) {
        if position == 0, bytes.unsigned(at: 0, size: 3) == 0xEFBBBF { position = 3 }
        while true {
            skipBlanks(bytes)
            if bytes.holds("<!--", at: position) {
                try skip(past: "-->", bytes)
            } else if bytes.holds("<?", at: position) {
                try skip(past: "?>", bytes)
            } else if bytes.holds("<!DOCTYPE", at: position) {
                let start = position
                try skip(past: ">", bytes)
                // Only hostile documents declare entities of their own.
                for index in start..<position where bytes[index] == UInt8(ascii: "[") {
                    throw PropertyListParseError("the document type declares something", at: index)
                }
            } else {
                return
            }
        }
    }

    private mutating func skipBlanks(_ bytes: Span<UInt8>) {
        while position < bytes.count, bytes[position].isBlank { position += 1 }
    }

    private mutating func skip(past text: StaticString, _ bytes: Span<UInt8>) throws(PropertyListParseError) {
        let start = position
        while position < bytes.count {
            if consume(text, bytes) { return }
            position += 1
        }
        throw PropertyListParseError("\(text) is missing", at: start)
    }

    private mutating func consume(_ text: StaticString, _ bytes: Span<UInt8>) -> Bool {
        guard bytes.holds(text, at: position) else { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    private mutating func expect(_ text: StaticString, _ bytes: Span<UInt8>) throws(PropertyListParseError) {
        guard consume(text, bytes) else { throw fault("\(text) is expected") }
    }

    private func fault(_ reason: String) -> PropertyListParseError {
        PropertyListParseError(reason, at: position)
    }
}
