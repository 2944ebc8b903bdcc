// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Something that reads values of any decodable type from bytes; `JSONDecoder` is one.
public protocol ContentDecoder: Sendable {
    /// A value of the type.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: ContentDecoder {}

/// Decodes XML and binary property lists into `Decodable` types.
///
/// The nesting is checked first, because `PropertyListDecoder` alone exhausts the stack with a deeply nested document of a few hundred kilobytes.
public struct PropertyListContentDecoder: ContentDecoder {
    /// A decoder.
    public init() {}

    /// A value of the type.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        _ = try PropertyListValue(parsing: data)
        return try PropertyListDecoder().decode(type, from: data)
    }
}
