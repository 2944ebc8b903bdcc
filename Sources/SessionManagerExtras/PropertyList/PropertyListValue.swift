// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
import SessionCore

/// A property list whose shape is not known beforehand.
public enum PropertyListValue: Sendable, Equatable {
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number above those of `integer`.
    case unsigned(UInt64)
    /// A number.
    case real(Double)
    /// Text.
    case string(String)
    /// A point in time.
    case date(Date)
    /// Bytes.
    case data(Data)
    /// A number of an object in a keyed archive; only in the binary format.
    case uid(UInt64)
    /// Values in order.
    case array([PropertyListValue])
    /// Values by name.
    case dictionary([String: PropertyListValue])

    /// Reads a document of either format.
    ///
    /// At most 512 arrays and dictionaries may be nested; in the binary format an object may stand in many
    /// containers, which may stand for ten million values in all.
    ///
    /// - Throws: a ``PropertyListParseError`` that says what is wrong, and where.
    public init(parsing data: Data) throws(PropertyListParseError) {
        switch Format(of: data) {
        case .binary:
            var parser = BinaryPropertyListParser()
            self = try parser.parse(data.span)
        case .xml:
            var parser = XMLPropertyListParser()
            let text: Data
            do throws(XMLTextError) {
                text = try XMLText.transcoded(data)
            } catch {
                throw PropertyListParseError(error.reason, at: 0)
            }
            self = try parser.parse(text.span)
        }
    }

    /// How a property list is written.
    public enum Format: String, Sendable, Codable, CaseIterable {
        /// XML with the document type of Apple's `PropertyList-1.0.dtd`.
        case xml
        /// The binary format that begins with `bplist`.
        case binary

        /// The format of a document: binary where it begins with `bplist`, otherwise XML.
        public init(of data: Data) { self = data.span.holds("bplist", at: 0) ? .binary : .xml }
    }
}

extension PropertyListValue: TreeValue {
    package init(elements: [PropertyListValue]) { self = .array(elements) }
    package init(members: [String: PropertyListValue]) { self = .dictionary(members) }
}

/// Why bytes are no property list, and where.
public struct PropertyListParseError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, in a few words.
    public let reason: String
    /// The position of the fault in bytes, from 0.
    public let offset: Int

    init(_ reason: String, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// The fault and its offset.
    public var description: String { "\(reason) at byte \(offset)" }
}

extension PropertyListValue {
    /// The member with this name; nil where there is none or this is no dictionary.
    public subscript(name: String) -> PropertyListValue? { dictionary?[name] }

    /// The element at this position; nil where there is none or this is no array.
    public subscript(position: Int) -> PropertyListValue? {
        guard case .array(let elements) = self, elements.indices.contains(position) else { return nil }
        return elements[position]
    }

    /// The truth value; nil for anything else.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The whole number; nil for anything else and for numbers that do not fit.
    public var int: Int? {
        switch self {
        case .integer(let value): Int(exactly: value)
        case .unsigned(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The number; nil for anything else.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .real(let value): value
        default: nil
        }
    }

    /// The text; nil for anything else.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The point in time; nil for anything else.
    public var date: Date? {
        if case .date(let value) = self { value } else { nil }
    }

    /// The bytes; nil for anything else.
    public var data: Data? {
        if case .data(let value) = self { value } else { nil }
    }

    /// The elements; nil where this is no array.
    public var array: [PropertyListValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members; nil where this is no dictionary.
    public var dictionary: [String: PropertyListValue]? {
        if case .dictionary(let value) = self { value } else { nil }
    }
}
