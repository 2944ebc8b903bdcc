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
    /// At most 512 arrays and dictionaries may be nested; in the binary format an object may stand in many places, and all places
    /// together may not be more than ten million.
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

    /// The fault and its place.
    public var description: String { "\(reason) at byte \(offset)" }
}
