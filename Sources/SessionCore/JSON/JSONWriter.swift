// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

extension JSONValue {
    /// The document as UTF-8, members sorted by name, so that equal documents give equal bytes.
    ///
    /// - Parameter pretty: in lines, indented by two spaces.
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` where a number is infinite or NaN, which JSON
    ///   has no word for, or where more than 512 levels are nested.
    public func data(pretty: Bool = false) throws(SessionError) -> Data {
        var writer = JSONWriter(isPretty: pretty)
        writer.write(self, level: 0)
        if let problem = writer.problem {
            throw SessionError(.cannotDecodeContentData, problem, domain: .requestSerialization)
        }
        return Data(writer.bytes)
    }
}

extension JSONValue: CustomStringConvertible {
    /// The document on one line; numbers that JSON has no word for as `null`.
    public var description: String {
        var writer = JSONWriter(isPretty: false)
        writer.write(self, level: 0)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

/// Writes a document.
struct JSONWriter {
    var bytes: [UInt8] = []
    /// Why what was written is not what was given.
    var problem: String?
    let isPretty: Bool

    mutating func write(_ value: JSONValue, level: Int) {
        switch value {
        case .null: append("null")
        case .bool(let value): append(value ? "true" : "false")
        case .integer(let value): append(String(value))
        case .unsigned(let value): append(String(value))
        case .number(let value):
            if !value.isFinite { problem = "\(value) cannot be written in JSON" }
            append(value.isFinite ? value.description : "null")
        case .bigNumber(let text): append(text)
        case .string(let text): write(text)
        case .array(let elements):
            list("[", "]", elements, level) { writer, element in writer.write(element, level: level + 1) }
        case .object(let members):
            list("{", "}", members.sorted { $0.key < $1.key }, level) { writer, member in
                writer.write(member.key)
                writer.append(writer.isPretty ? ": " : ":")
                writer.write(member.value, level: level + 1)
            }
        }
    }

    private mutating func list<Item>(
        _ opening: String, _ closing: String, _ items: [Item], _ level: Int,
        _ body: (inout JSONWriter, Item) -> Void
    ) {
        append(opening)
        if level >= TreeAssembly<JSONValue>.maximumDepth {
            problem = "more than \(level) levels of JSON are nested"
        } else {
            for (index, item) in items.enumerated() {
                if index > 0 { append(",") }
                breakLine(level + 1)
                body(&self, item)
            }
            if !items.isEmpty { breakLine(level) }
        }
        append(closing)
    }

    private mutating func breakLine(_ level: Int) {
        guard isPretty else { return }
        bytes.append(0x0A)
        bytes.append(contentsOf: repeatElement(0x20, count: 2 * level))
    }

    mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// Writes a string in quotes.
    mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): append("\\\"")
            case UInt8(ascii: "\\"): append("\\\\")
            case 0x08: append("\\b")
            case 0x09: append("\\t")
            case 0x0A: append("\\n")
            case 0x0C: append("\\f")
            case 0x0D: append("\\r")
            case 0..<0x20:
                append(byte < 0x10 ? "\\u000\(String(byte, radix: 16))" : "\\u00\(String(byte, radix: 16))")
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
