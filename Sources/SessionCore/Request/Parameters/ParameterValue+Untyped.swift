// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

extension ParameterValue {
    /// Any value: numbers, text, dates, data, arrays, sets and dictionaries of such, and what is `Encodable`.
    ///
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` where something cannot be expressed, for
    ///   instance a dictionary whose keys are no text; the message says what and where.
    public init(untyped value: Any) throws(SessionError) {
        self = try Self.reading(value, at: "parameters")
    }

    private static func reading(_ value: Any, at path: String) throws(SessionError) -> ParameterValue {
        if let optional = value as? any Wrapping {
            guard let wrapped = optional.wrapped else { return .null }
            return try reading(wrapped, at: path)
        }
        if let scalar = try scalar(value, at: path) { return scalar }
        if let values = value as? [String: Any] { return .dictionary(try dictionary(values, at: path)) }
        if let values = value as? [AnyHashable: Any] {
            return .dictionary(try dictionary(try named(values, at: path), at: path))
        }
        if let values = value as? [Any] { return .array(try list(values, at: path)) }
        if let values = value as? Set<AnyHashable> { return .set(try list(values.map(\.base), at: path)) }
        if let value = value as? any Encodable { return try ParameterEncoder().encode(value) }
        throw unexpressible("a value of type \(type(of: value)) cannot be a parameter", at: path)
    }

    private static func scalar(_ value: Any, at path: String) throws(SessionError) -> ParameterValue? {
        switch value {
        case let value as ParameterValue: return value
        case let value as String: return .string(value)
        case let value as Bool: return .bool(value)
        case let value as any BinaryInteger:
            if let value = Int64(exactly: value) { return .integer(value) }
            if let value = UInt64(exactly: value) { return .unsigned(value) }
            throw unexpressible("a whole number has more than 64 bits", at: path)
        case let value as Double: return .number(value)
        case let value as Float: return ParameterValue(value)
        case let value as Date: return .date(value)
        case let value as Data: return .data(value)
        case let value as URL: return .string(value.absoluteString)
        case let value as any StringProtocol: return .string(String(value))
        default: return nil
        }
    }

    private static func named(
        _ values: [AnyHashable: Any], at path: String
    ) throws(SessionError) -> [String: Any] {
        var named: [String: Any] = [:]
        for (key, value) in values {
            guard let name = key.base as? String else {
                throw unexpressible("a dictionary's key is no text: \(TextQuote("\(key.base)"))", at: path)
            }
            named[name] = value
        }
        return named
    }

    private static func dictionary(_ values: [String: Any], at path: String) throws(SessionError)
        -> Parameters
    {
        var read = Parameters(minimumCapacity: values.count)
        for (name, value) in values { read[name] = try reading(value, at: "\(path).\(name)") }
        return read
    }

    private static func list(_ values: [Any], at path: String) throws(SessionError) -> [ParameterValue] {
        var read: [ParameterValue] = []
        read.reserveCapacity(values.count)
        for value in values { read.append(try reading(value, at: "\(path)[\(read.count)]")) }
        return read
    }

    private static func unexpressible(_ what: String, at path: String) -> SessionError {
        SessionError(
            .cannotDecodeContentData, "\(what), at \(TextQuote(path))", domain: .requestSerialization)
    }

    /// The number that a `Float` is written as: 0.1, not 0.10000000149011612.
    init(_ value: Float) { self = .number(Double(value.description) ?? Double(value)) }
}

/// An optional whose type is not known.
private protocol Wrapping {
    var wrapped: Any? { get }
}

extension Optional: Wrapping {
    fileprivate var wrapped: Any? { self }
}
