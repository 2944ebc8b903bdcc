// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

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
    /// Text; in the OpenStep format numbers are text as well.
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

    /// Reads a document of any format.
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
        case .openStep:
            var parser = OpenStepPropertyListParser()
            self = try parser.parse(data.span)
        }
    }

    /// How a property list is written.
    public enum Format: String, Sendable, Codable, CaseIterable {
        /// XML with the document type of Apple's `PropertyList-1.0.dtd`.
        case xml
        /// The binary format that begins with `bplist`.
        case binary
        /// The text format of NeXTSTEP: `{ key = "value"; list = (1, 2); }`, and files of strings: `key = "value";`.
        case openStep

        /// The format that these bytes seem to have.
        public init(of data: Data) {
            let bytes = data.span
            if bytes.holds("bplist", at: 0) {
                self = .binary
                return
            }
            // UTF-16 and UTF-32 have a mark or a zero byte among the first.
            var isWide = bytes.count >= 2 && bytes[0] ^ bytes[1] == 1 && bytes[0] | bytes[1] == 0xFF
            for index in 0..<min(4, bytes.count) where bytes[index] == 0 { isWide = true }
            var start = bytes.unsigned(at: 0, size: 3) == 0xEFBBBF ? 3 : 0
            while start < bytes.count, bytes[start].isBlank { start += 1 }
            guard !isWide, start < bytes.count, bytes[start] == UInt8(ascii: "<") else {
                self = isWide ? .xml : .openStep
                return
            }
            // `<0fbd 77>` is bytes in the text format.
            var end = start + 1
            while end < bytes.count, bytes[end].hexDigit != nil || bytes[end].isBlank { end += 1 }
            self = end < bytes.count && bytes[end] == UInt8(ascii: ">") ? .openStep : .xml
        }
    }
}

extension PropertyListValue: TreeValue {
    init(elements: [PropertyListValue]) { self = .array(elements) }
    init(members: [String: PropertyListValue]) { self = .dictionary(members) }
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
