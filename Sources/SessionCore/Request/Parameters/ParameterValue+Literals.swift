// SPDX-License-Identifier: Apache-2.0

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
