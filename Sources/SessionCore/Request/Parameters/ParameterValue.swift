// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// The parameters of a request, by name.
public typealias Parameters = [String: ParameterValue]

/// One value among a request's parameters: what forms, JSON and property lists are made of.
public indirect enum ParameterValue: Sendable, Equatable {
    /// Nothing: a name without `=` in a query, `null` in JSON.
    case null
    /// A truth value; `1` or `0` in a query.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number above those of `integer`.
    case unsigned(UInt64)
    /// A number; whole ones are written without a fraction in a query.
    case number(Double)
    /// Text.
    case string(String)
    /// Bytes.
    case data(Data)
    /// A point in time.
    case date(Date)
    /// Values in order.
    case array([ParameterValue])
    /// Values without order: a query repeats the name for each, without brackets.
    case set([ParameterValue])
    /// Values by name; a query sorts the names.
    case dictionary([String: ParameterValue])
}

extension ParameterValue: ScalarValue {}

/// Written as the plain value that it is: `.array([.integer(1)])` becomes `[1]`.
extension ParameterValue: Codable {
    /// Reads whatever a decoder has: a JSON or property-list tree, for instance.
    ///
    /// JSON knows no dates, data and sets: they come back as the text, number or array that was written.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = Self.scalar(in: container) {
            self = value
        } else if let value = try? container.decode([String: ParameterValue].self) {
            self = .dictionary(value)
        } else if let value = try? container.decode([ParameterValue].self) {
            self = .array(value)
        } else if let value = try? container.decode(Date.self) {
            self = .date(value)
        } else {
            self = .data(try container.decode(Data.self))
        }
    }

    /// Writes the value; dates and data as the encoder has them, a set as an array.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .array(let values), .set(let values): try container.encode(values)
        case .dictionary(let values): try container.encode(values)
        }
    }
}

extension ParameterValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// ``null``, written `nil`.
    public init(nilLiteral: ()) { self = .null }

    /// A truth value, written `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// A whole number, written as such.
    public init(integerLiteral value: Int64) { self = .integer(value) }

    /// A number with a fraction, written as such.
    public init(floatLiteral value: Double) { self = .number(value) }

    /// Text, written between quotation marks, interpolation included.
    public init(stringLiteral value: String) { self = .string(value) }

    /// Values in order, written `[a, b]`.
    public init(arrayLiteral elements: ParameterValue...) { self = .array(elements) }

    /// Values by name, written `[name: value]`; of a name that occurs twice the last value counts.
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        self = .dictionary(Dictionary(elements) { _, last in last })
    }
}
