// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
import SessionCore

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
