// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Something that reads values of any decodable type from bytes; `JSONDecoder` is one.
public protocol ContentDecoder: Sendable {
    /// A value of the type.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: ContentDecoder {}
