// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// The member with this name; nil where there is none or this is no object.
    ///
    /// Setting it turns anything that is no object into one; nil removes the member.
    public subscript(name: String) -> JSONValue? {
        get {
            guard case .object(let members) = self else { return nil }
            return members[name]
        }
        set {
            var members = object ?? [:]
            self = .null
            members[name] = newValue
            self = .object(members)
        }
    }

    /// The element at this position; nil where there is none or this is no array.
    public subscript(position: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(position) else { return nil }
        return elements[position]
    }

    /// Whether this is `null`.
    public var isNull: Bool { self == .null }

    /// The truth value; nil for anything else.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The text; nil for anything else.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements; nil where this is no array.
    public var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members; nil where this is no object.
    public var object: [String: JSONValue]? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The whole number, exactly; nil for other values and for numbers that do not fit.
    ///
    /// `2.0` is 2.
    public var int: Int? { int64.flatMap { Int(exactly: $0) } }

    /// The whole number as in ``int``, with 64 bits.
    public var int64: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The whole number as in ``int``, without a sign.
    public var uint64: UInt64? {
        switch self {
        case .integer(let value): UInt64(exactly: value)
        case .unsigned(let value): value
        case .number(let value): UInt64(exactly: value)
        default: nil
        }
    }

    /// The number that is next to the value; nil for other values.
    ///
    /// A number beyond the greatest is infinite.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .number(let value): value
        case .bigNumber(let text): Double(text)
        default: nil
        }
    }
}

// `nil` is no literal of it: it would be ambiguous wherever a value is optional.
extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Values in order.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Values by name; of two with one name the last counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}
