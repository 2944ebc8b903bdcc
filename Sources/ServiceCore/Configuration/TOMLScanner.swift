// SPDX-License-Identifier: Apache-2.0

/// Scans the bytes of a TOML file into keys, values and ends of lines.
struct TOMLScanner {
    private let bytes: [UInt8]
    private var position = 0
    /// The line, from 1 on.
    private(set) var line = 1
    private var depth = 0

    init(_ bytes: [UInt8]) throws(TOMLError) {
        self.bytes = bytes
        guard String(validating: bytes, as: UTF8.self) != nil else {
            // The message names the first line that is not UTF-8.
            var number = 1
            for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
                if String(validating: line, as: UTF8.self) == nil { break }
                number += 1
            }
            throw TOMLError(line: number, problem: "this is not UTF-8")
        }
    }

    var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    func error(_ problem: String) -> TOMLError { TOMLError(line: line, problem: problem) }

    /// The text at this position, for a message.
    private var found: String {
        guard let peek else { return "the end of the file" }
        if peek == UInt8(ascii: "\n") { return "the end of the line" }
        guard peek > 0x20, peek < 0x7F else { return "a character that does not belong here" }
        return "'\(Character(Unicode.Scalar(peek)))'"
    }

    mutating func skip() {
        if peek == UInt8(ascii: "\n") { line += 1 }
        position += 1
    }

    mutating func skipBlank() { while let peek, peek == 0x20 || peek == 0x09 { position += 1 } }

    mutating func consume(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        skip()
        return true
    }

    /// Skips blanks and a comment up to the next line.
    mutating func endLine() throws(TOMLError) {
        skipBlank()
        try skipComment()
        if peek == 0x0D { position += 1 }
        guard let peek else { return }
        guard peek == UInt8(ascii: "\n") else { throw error("a new line is expected here, not \(found)") }
        skip()
    }

    private mutating func skipComment() throws(TOMLError) {
        guard peek == UInt8(ascii: "#") else { return }
        while let peek, peek != UInt8(ascii: "\n"), peek != 0x0D {
            guard peek >= 0x20 && peek != 0x7F || peek == 0x09 else {
                throw error("a control character stands in the comment")
            }
            position += 1
        }
    }

    static func isBare(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// One part of a key.
    mutating func key() throws(TOMLError) -> String {
        if peek == UInt8(ascii: "\"") || peek == UInt8(ascii: "'") { return try string() }
        let word = consumeWhile(Self.isBare)
        guard !word.isEmpty else { throw error("a key is expected here, not \(found)") }
        return word
    }

    private mutating func consumeWhile(_ isPart: (UInt8) -> Bool) -> String {
        let start = position
        while let peek, isPart(peek) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// A value.
    mutating func value() throws(TOMLError) -> TOMLValue {
        switch peek {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try string())
        case UInt8(ascii: "["): return .array(try list())
        case UInt8(ascii: "{"):
            throw error("inline tables ({…}) are not known here; write dotted keys or a [table]")
        case nil, UInt8(ascii: "\n"), UInt8(ascii: "#"), 0x0D: throw error("the value is missing")
        default:
            let word = consumeWhile { byte in
                Self.isBare(byte) || [UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: ":")].contains(byte)
            }
            guard !word.isEmpty else { throw error("a value is expected here, not \(found)") }
            if let value = TOMLNumber.value(word) { return value }
            throw error("'\(word)' is no value; texts, times and paths stand in quotation marks")
        }
    }

    private mutating func list() throws(TOMLError) -> [TOMLValue] {
        guard depth < 8 else { throw error("lists are nested too deeply") }
        depth += 1
        defer { depth -= 1 }
        skip()
        var values: [TOMLValue] = []
        while true {
            try skipLines()
            if consume("]") { return values }
            values.append(try value())
            try skipLines()
            if consume(",") { continue }
            guard consume("]") else { throw error("in a list, a comma or ] is expected here, not \(found)") }
            return values
        }
    }

    private mutating func skipLines() throws(TOMLError) {
        while true {
            skipBlank()
            try skipComment()
            guard peek == UInt8(ascii: "\n") || peek == 0x0D else { return }
            skip()
        }
    }

    /// A string on one line: basic ("…", with escapes) or literal ('…').
    private mutating func string() throws(TOMLError) -> String {
        guard let mark = peek else { return "" }
        position += 1
        if position + 1 < bytes.count, bytes[position] == mark, bytes[position + 1] == mark {
            throw error("strings over several lines are not known here")
        }
        var text: [UInt8] = []
        while let byte = peek {
            position += 1
            switch byte {
            case mark: return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\n"), 0x0D: throw error("the string does not end on its line")
            case UInt8(ascii: "\\") where mark == UInt8(ascii: "\""): text += try escape()
            case 0..<0x09, 0x0A..<0x20, 0x7F: throw error("a control character stands in the string")
            default: text.append(byte)
            }
        }
        throw error("the string does not end")
    }

    private mutating func escape() throws(TOMLError) -> [UInt8] {
        guard let byte = peek else { throw error("the string does not end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "u"), UInt8(ascii: "U"):
            let count = byte == UInt8(ascii: "u") ? 4 : 8
            let digits = String(decoding: bytes[position..<min(bytes.count, position + count)], as: UTF8.self)
            guard digits.utf8.count == count, digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }),
                let number = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(number)
            else { throw error("\\u has four and \\U eight hexadecimal digits of a character behind it") }
            position += count
            return Array(String(Character(scalar)).utf8)
        default: throw error("unknown escape in a string; write \\\\ for a backslash, or use '…'")
        }
    }
}
