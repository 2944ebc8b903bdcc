// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SessionCore

/// Reads XML and binary property lists into a ``PropertyListValue``.
///
/// No content is no object and no error.
public struct PropertyListResponseSerializer: ValidatingResponseSerializer, Equatable, Codable {
    /// Which responses are acceptable; `application/x-plist` unless said.
    public var validation: ResponseValidation
    /// The formats that are read; all unless said.
    public var formats: Set<PropertyListValue.Format>

    /// A serializer.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: ["application/x-plist"]),
        formats: Set<PropertyListValue.Format> = Set(PropertyListValue.Format.allCases)
    ) {
        self.validation = validation
        self.formats = formats
    }

    /// The document; nil for empty content.
    public func decode(_ data: Data?, response: SessionResponse?) throws(SessionError) -> PropertyListValue? {
        guard let data, !data.isEmpty else { return nil }
        let format = PropertyListValue.Format(of: data)
        guard formats.contains(format) else {
            throw .unreadable(
                "the content is no property list of the formats asked for, but \(format.rawValue)")
        }
        do {
            return try PropertyListValue(parsing: data)
        } catch {
            throw .unreadable("the content is no property list: \(error)", underlying: error)
        }
    }
}

/// Decodes XML and binary property lists into `Decodable` types.
///
/// Checks the nesting first: `PropertyListDecoder` alone exhausts the stack with a deep one of some 100 kB.
public struct PropertyListContentDecoder: ContentDecoder {
    /// A decoder.
    public init() {}

    /// A value of the type.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        _ = try PropertyListValue(parsing: data)
        return try PropertyListDecoder().decode(type, from: data)
    }
}

extension PropertyListResponseSerializer: StorableSerializer {
    /// The name in what is stored.
    public static var storedName: String { "propertyList" }
}
