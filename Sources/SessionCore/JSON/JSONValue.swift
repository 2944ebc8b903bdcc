// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// A JSON document (RFC 8259) whose shape is not known beforehand.
///
/// Whole numbers stay exact up to 64 bits, and greater ones keep their digits.
public enum JSONValue: Sendable, Equatable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number above those of `integer`.
    case unsigned(UInt64)
    /// A number with a fraction or an exponent, as near as 64 bits come.
    case number(Double)
    /// A number that none of the others can hold, as it was written: `123456789012345678901`, `1e400`.
    case bigNumber(String)
    /// Text.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Values by name; of two members with one name the last counts.
    case object([String: JSONValue])

    /// Reads a document in UTF-8; a byte order mark before it is skipped.
    ///
    /// At most 512 arrays and objects may be nested. Takes time and memory in proportion to the length.
    ///
    /// - Throws: a ``JSONParseError`` with line and column.
    public init(parsing data: Data) throws(JSONParseError) {
        var parser = JSONParser()
        self = try parser.parse(data.span)
    }

    /// Reads a document; see ``init(parsing:)-(Data)``.
    public init(parsing text: String) throws(JSONParseError) {
        try self.init(parsing: Data(text.utf8))
    }

    /// The same document without members and elements that are null, at every level.
    ///
    /// A null that is the whole document stays.
    public func removingNulls() -> JSONValue {
        switch self {
        case .array(let elements):
            .array(elements.compactMap { $0 == .null ? nil : $0.removingNulls() })
        case .object(let members):
            .object(members.compactMapValues { $0 == .null ? nil : $0.removingNulls() })
        default: self
        }
    }
}

extension JSONValue: ScalarValue {}

extension JSONValue: TreeValue {
    package init(elements: [JSONValue]) { self = .array(elements) }
    package init(members: [String: JSONValue]) { self = .object(members) }
}

extension JSONValue: Codable {
    /// Reads any value of the format.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = Self.scalar(in: container) {
            self = value
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// Writes the value; of a number with more digits than 64 bits hold the nearest one.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .bigNumber: try container.encode(double)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}
