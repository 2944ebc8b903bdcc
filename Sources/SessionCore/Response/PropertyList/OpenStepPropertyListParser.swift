// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Reads the text format of NeXTSTEP, and files of strings, which are such a dictionary without its braces.
struct OpenStepPropertyListParser {
    private var tree = TreeAssembly<PropertyListValue>()
    private var position = 0

    mutating func parse(_ bytes: Span<UInt8>) throws(PropertyListParseError) -> PropertyListValue {
        if bytes.unsigned(at: 0, size: 3) == 0xEFBBBF { position = 3 }
        try skipBlanks(bytes)
        if position < bytes.count, isWordStart(bytes[position]) {
            let word = try readString(bytes)
            try skipBlanks(bytes)
            guard position < bytes.count else { return .string(word) }
            return try parsePairs(firstKey: word, bytes)
        }
        while true {
            guard var value = try beginValue(bytes) else { continue }
            while let isDictionary = tree.isInDictionary {
                tree.add(value)
                guard try endsContainer(bytes, isDictionary: isDictionary) else { break }
                guard let closed = tree.close() else { break }
                value = closed
            }
            if tree.isInDictionary == nil {
                try skipBlanks(bytes)
                guard position == bytes.count else { throw fault("something follows the document") }
                return value
            }
        }
    }

    /// Reads the rest of a file of strings.
    private mutating func parsePairs(
        firstKey: String, _ bytes: Span<UInt8>
    ) throws(PropertyListParseError) -> PropertyListValue {
        var pairs: [String: PropertyListValue] = [:]
        var key = firstKey
        while true {
            // `key;` stands for `key = key;`
            var value = key
            if try skip("=", bytes) {
                try skipBlanks(bytes)
                value = try readString(bytes)
            }
            guard try skip(";", bytes) else { throw fault("a semicolon is expected") }
            pairs[key] = .string(value)
            try skipBlanks(bytes)
            guard position < bytes.count else { return .dictionary(pairs) }
            key = try readString(bytes)
        }
    }

    private mutating func beginValue(_ bytes: Span<UInt8>) throws(PropertyListParseError)
        -> PropertyListValue?
    {
        try skipBlanks(bytes)
        guard position < bytes.count else { throw fault("the document ends before it is complete") }
        switch bytes[position] {
        case UInt8(ascii: "("):
            try open(dictionary: false)
            return try skip(")", bytes) ? tree.close() : nil
        case UInt8(ascii: "{"):
            try open(dictionary: true)
            if try skip("}", bytes) { return tree.close() }
            try readKey(bytes)
            return nil
        case UInt8(ascii: "<"): return .data(try readData(bytes))
        default: return .string(try readString(bytes))
        }
    }

    /// Reads what stands behind a member or an element: true for the end of the container.
    private mutating func endsContainer(
        _ bytes: Span<UInt8>, isDictionary: Bool
    ) throws(PropertyListParseError) -> Bool {
        if isDictionary {
            guard try skip(";", bytes) else { throw fault("a semicolon is expected") }
            if try skip("}", bytes) { return true }
            try readKey(bytes)
            return false
        }
        if try skip(",", bytes) { return try skip(")", bytes) }
        guard try skip(")", bytes) else { throw fault("a comma or ) is expected") }
        return true
    }

    private mutating func open(dictionary: Bool) throws(PropertyListParseError) {
        guard tree.open(dictionary: dictionary) else { throw fault("too many levels are nested") }
        position += 1
    }

    private mutating func readKey(_ bytes: Span<UInt8>) throws(PropertyListParseError) {
        try skipBlanks(bytes)
        tree.add(key: try readString(bytes))
        guard try skip("=", bytes) else { throw fault("= is expected") }
    }

    private mutating func readData(_ bytes: Span<UInt8>) throws(PropertyListParseError) -> Data {
        var data: [UInt8] = []
        var high: UInt8?
        position += 1
        while position < bytes.count, bytes[position] != UInt8(ascii: ">") {
            if let digit = bytes[position].hexDigit {
                if let first = high { data.append(first << 4 | digit) }
                high = high == nil ? digit : nil
            } else if !bytes[position].isBlank {
                throw fault("a hexadecimal digit is expected")
            }
            position += 1
        }
        guard position < bytes.count, high == nil else {
            throw fault("the bytes have no end, or half a byte too much")
        }
        position += 1
        return Data(data)
    }

    private mutating func readString(_ bytes: Span<UInt8>) throws(PropertyListParseError) -> String {
        guard position < bytes.count, isWordStart(bytes[position]) else { throw fault("a value is expected") }
        let start = position
        let quote = bytes[position]
        var text: [UInt8] = []
        if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
            position += 1
            while position < bytes.count, bytes[position] != quote {
                if bytes[position] == UInt8(ascii: "\\") {
                    try readEscape(bytes, into: &text)
                } else {
                    text.append(bytes[position])
                    position += 1
                }
            }
            guard position < bytes.count else {
                throw PropertyListParseError("a string has no end", at: start)
            }
            position += 1
        } else {
            while position < bytes.count, bytes[position].isWordPart {
                text.append(bytes[position])
                position += 1
            }
        }
        guard let valid = String(validating: text, as: UTF8.self) else {
            throw PropertyListParseError("the bytes are no UTF-8", at: start)
        }
        return valid
    }

    private mutating func readEscape(
        _ bytes: Span<UInt8>, into text: inout [UInt8]
    ) throws(PropertyListParseError) {
        position += 1
        guard position < bytes.count else { throw fault("a string has no end") }
        let letter = bytes[position]
        position += 1
        switch letter {
        case UInt8(ascii: "a"): text.append(0x07)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "v"): text.append(0x0B)
        case UInt8(ascii: "U"), 0x30...0x37:
            let isOctal = letter != UInt8(ascii: "U")
            if isOctal { position -= 1 }
            let value = readDigits(bytes, shift: isOctal ? 3 : 4, most: isOctal ? 3 : 4)
            // Octal escapes above 0x7F are NeXTSTEP's own characters.
            guard let value, !isOctal || value < 0x80, let scalar = Unicode.Scalar(value),
                let units = UTF8.encode(scalar)
            else { throw fault("there is no such escape") }
            text.append(contentsOf: units)
        default: text.append(letter)
        }
    }

    private mutating func readDigits(_ bytes: Span<UInt8>, shift: UInt32, most: Int) -> UInt32? {
        var value: UInt32?
        for _ in 0..<most {
            guard position < bytes.count, let digit = bytes[position].hexDigit, UInt32(digit) < 1 << shift
            else { break }
            value = (value ?? 0) << shift | UInt32(digit)
            position += 1
        }
        return value
    }

    private func isWordStart(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") || byte.isWordPart
    }

    private mutating func skip(_ text: StaticString, _ bytes: Span<UInt8>) throws(PropertyListParseError)
        -> Bool
    {
        try skipBlanks(bytes)
        guard bytes.holds(text, at: position) else { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    /// Skips blanks and comments.
    private mutating func skipBlanks(_ bytes: Span<UInt8>) throws(PropertyListParseError) {
        while position < bytes.count {
            if bytes[position].isBlank {
                position += 1
            } else if bytes.holds("//", at: position) {
                while position < bytes.count, bytes[position] != 0x0A, bytes[position] != 0x0D {
                    position += 1
                }
            } else if bytes.holds("/*", at: position) {
                let start = position
                position += 2
                while position < bytes.count, !bytes.holds("*/", at: position) { position += 1 }
                guard position < bytes.count else {
                    throw PropertyListParseError("a comment has no end", at: start)
                }
                position += 2
            } else {
                return
            }
        }
    }

    private func fault(_ reason: String) -> PropertyListParseError {
        PropertyListParseError(reason, at: position)
    }
}

extension UInt8 {
    /// Whether it may stand in a word without quotes.
    fileprivate var isWordPart: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "."),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
