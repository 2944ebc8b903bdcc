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
