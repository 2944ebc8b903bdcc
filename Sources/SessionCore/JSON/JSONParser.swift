// SPDX-License-Identifier: Apache-2.0

/// Reads one JSON document, exactly as RFC 8259 has it: no comments, no trailing commas, no NaN.
struct JSONParser {
    private var tree = TreeAssembly<JSONValue>()
    var position = 0

    mutating func parse(_ bytes: Span<UInt8>) throws(JSONParseError) -> JSONValue {
        try skipMark(bytes)
        while true {
            guard var value = try beginValue(bytes) else { continue }
            // The value is complete; so may be what surrounds it.
            while let isObject = tree.isInDictionary {
                tree.add(value)
                guard try endsContainer(bytes, isObject: isObject) else { break }
                guard let closed = tree.close() else { break }
                value = closed
            }
            if tree.isInDictionary == nil {
                skipBlanks(bytes)
                guard position == bytes.count else { throw fault("something follows the document", bytes) }
                return value
            }
        }
    }

    /// Reads a whole value, or opens a container and returns nil, behind the first key of an object.
    private mutating func beginValue(_ bytes: Span<UInt8>) throws(JSONParseError) -> JSONValue? {
        skipBlanks(bytes)
        guard position < bytes.count else { throw fault("the document ends before it is complete", bytes) }
        switch bytes[position] {
        case UInt8(ascii: "["):
            try open(bytes, dictionary: false)
            guard skip(UInt8(ascii: "]"), bytes) else { return nil }
            return tree.close()
        case UInt8(ascii: "{"):
            try open(bytes, dictionary: true)
            if skip(UInt8(ascii: "}"), bytes) { return tree.close() }
            try readKey(bytes)
            return nil
        case UInt8(ascii: "\""): return .string(try readString(bytes))
        case UInt8(ascii: "t"): return try readWord("true", .bool(true), bytes)
        case UInt8(ascii: "f"): return try readWord("false", .bool(false), bytes)
        case UInt8(ascii: "n"): return try readWord("null", .null, bytes)
        case UInt8(ascii: "-"), 0x30...0x39: return try readNumber(bytes)
        default: throw fault("a value is expected", bytes)
        }
    }

    /// Reads what stands behind a member or an element: true for the end of the container.
    private mutating func endsContainer(_ bytes: Span<UInt8>, isObject: Bool) throws(JSONParseError) -> Bool {
        skipBlanks(bytes)
        guard position < bytes.count else { throw fault("the document ends before it is complete", bytes) }
        switch bytes[position] {
        case UInt8(ascii: ","):
            position += 1
            if isObject { try readKey(bytes) }
            return false
        case UInt8(ascii: "}") where isObject, UInt8(ascii: "]") where !isObject:
            position += 1
            return true
        default: throw fault(isObject ? "a comma or } is expected" : "a comma or ] is expected", bytes)
        }
    }

    private mutating func open(_ bytes: Span<UInt8>, dictionary: Bool) throws(JSONParseError) {
        guard tree.open(dictionary: dictionary) else {
            throw fault("more than \(TreeAssembly<JSONValue>.maximumDepth) levels are nested", bytes)
        }
        position += 1
    }

    private mutating func readKey(_ bytes: Span<UInt8>) throws(JSONParseError) {
        skipBlanks(bytes)
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
            throw fault("a name in quotes is expected", bytes)
        }
        tree.add(key: try readString(bytes))
        guard skip(UInt8(ascii: ":"), bytes) else { throw fault("a colon is expected", bytes) }
    }

    private mutating func readWord(
        _ word: StaticString, _ value: JSONValue, _ bytes: Span<UInt8>
    ) throws(JSONParseError) -> JSONValue {
        guard bytes.holds(word, at: position) else { throw fault("a value is expected", bytes) }
        position += word.utf8CodeUnitCount
        return value
    }

    /// Skips blanks and then the byte, if it is the next one.
    private mutating func skip(_ byte: UInt8, _ bytes: Span<UInt8>) -> Bool {
        skipBlanks(bytes)
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipBlanks(_ bytes: Span<UInt8>) {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    private mutating func skipMark(_ bytes: Span<UInt8>) throws(JSONParseError) {
        if bytes.count >= 2, bytes[0] ^ bytes[1] == 1, bytes[0] | bytes[1] == 0xFF {
            throw fault("this is UTF-16 or UTF-32, and JSON is UTF-8", bytes)
        }
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { position = 3 }
    }

    func fault(_ reason: String, _ bytes: Span<UInt8>, at offset: Int? = nil) -> JSONParseError {
        JSONParseError(reason, at: offset ?? position, in: bytes)
    }
}
