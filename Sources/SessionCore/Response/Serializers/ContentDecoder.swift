// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Something that reads values of any decodable type from bytes; `JSONDecoder` is one.
public protocol ContentDecoder: Sendable {
    /// A value of the type.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: ContentDecoder {}

/// Reads property lists of all formats into types of yours.
///
/// Nesting is checked first: `PropertyListDecoder` alone would exhaust the stack over a document of a few hundred kilobytes.
public struct PropertyListContentDecoder: ContentDecoder {
    /// A decoder.
    public init() {}

    /// A value of the type.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        _ = try PropertyListValue(parsing: data)
        return try PropertyListDecoder().decode(type, from: data)
    }
}
