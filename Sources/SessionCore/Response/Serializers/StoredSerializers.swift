// SPDX-License-Identifier: Apache-2.0

/// A serializer that can be stored with the settings of a manager.
///
/// A decoder of settings knows those of `SessionCore`, and finds others where they are listed for it:
///
/// ```swift
/// decoder.userInfo[.storableSerializers] = [PropertyListResponseSerializer.self] as [any
/// StorableSerializer.Type]
/// ```
public protocol StorableSerializer: Sendable, Codable {
    /// The name of its kind in what is stored; one among all response or all request serializers.
    static var storedName: String { get }
}

extension CodingUserInfoKey {
    /// Further kinds of serializers that a decoder of settings can meet: `[any StorableSerializer.Type]`.
    public static var storableSerializers: CodingUserInfoKey {
        CodingUserInfoKey(rawValue: "StorableSerializers").unsafelyUnwrapped
    }
}

/// A request serializer under the name of its kind.
package struct StoredRequestSerializer: Codable {
    package let serializer: any RequestSerializer

    /// - Throws: `EncodingError` for one that is no ``StorableSerializer``.
    package init(_ serializer: any RequestSerializer, at path: [any CodingKey]) throws {
        guard serializer is any StorableSerializer else {
            throw EncodingError.notStorable(serializer, at: path)
        }
        self.serializer = serializer
    }

    package init(from decoder: any Decoder) throws {
        let known: [any StorableSerializer.Type] = [HTTPRequestSerializer.self, JSONRequestSerializer.self]
        let kinds = (known + decoder.storableSerializers).filter { $0 is any RequestSerializer.Type }
        guard let read = try decode(kinds, from: decoder) as? any RequestSerializer else {
            throw DecodingError.unknownSerializer(decoder)
        }
        serializer = read
    }

    package func encode(to encoder: any Encoder) throws { try SessionCore.encode(serializer, to: encoder) }
}

/// A response serializer under the name of its kind.
package struct StoredResponseSerializer: Codable {
    package let serializer: any ResponseSerializer

    /// - Throws: `EncodingError` for one that is no ``StorableSerializer``.
    package init(_ serializer: any ResponseSerializer, at path: [any CodingKey]) throws {
        guard serializer is any StorableSerializer else {
            throw EncodingError.notStorable(serializer, at: path)
        }
        self.serializer = serializer
    }

    package init(from decoder: any Decoder) throws {
        let known: [any StorableSerializer.Type] = [
            HTTPResponseSerializer.self, JSONResponseSerializer.self, StringResponseSerializer.self,
            CompoundResponseSerializer.self,
        ]
        let kinds = (known + decoder.storableSerializers).filter { $0 is any ResponseSerializer.Type }
        guard let read = try decode(kinds, from: decoder) as? any ResponseSerializer else {
            throw DecodingError.unknownSerializer(decoder)
        }
        serializer = read
    }

    package func encode(to encoder: any Encoder) throws { try SessionCore.encode(serializer, to: encoder) }
}

/// `{"json": {"_0": …}}`, as the compiler writes an enum.
private struct StoredName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
    static var value: StoredName { StoredName(stringValue: "_0") }
}

private func encode(_ serializer: Any, to encoder: any Encoder) throws {
    guard let serializer = serializer as? any StorableSerializer else { return }
    let name = StoredName(stringValue: type(of: serializer).storedName)
    var container = encoder.container(keyedBy: StoredName.self)
    var content = container.nestedContainer(keyedBy: StoredName.self, forKey: name)
    try content.encode(serializer, forKey: .value)
}

private func decode(
    _ kinds: [any StorableSerializer.Type], from decoder: any Decoder
) throws -> (any StorableSerializer)? {
    let container = try decoder.container(keyedBy: StoredName.self)
    for kind in kinds {
        let name = StoredName(stringValue: kind.storedName)
        guard container.contains(name) else { continue }
        let content = try container.nestedContainer(keyedBy: StoredName.self, forKey: name)
        return try content.decode(kind, forKey: .value)
    }
    return nil
}

extension Decoder {
    fileprivate var storableSerializers: [any StorableSerializer.Type] {
        userInfo[.storableSerializers] as? [any StorableSerializer.Type] ?? []
    }
}

extension EncodingError {
    fileprivate static func notStorable(_ serializer: Any, at path: [any CodingKey]) -> EncodingError {
        .invalidValue(
            serializer,
            Context(codingPath: path, debugDescription: "\(type(of: serializer)) cannot be stored"))
    }
}

extension DecodingError {
    fileprivate static func unknownSerializer(_ decoder: any Decoder) -> DecodingError {
        .dataCorrupted(
            Context(
                codingPath: decoder.codingPath,
                debugDescription:
                    "no serializer of this kind is known; see CodingUserInfoKey.storableSerializers"))
    }
}

extension HTTPRequestSerializer: StorableSerializer {
    /// The name in what is stored.
    public static var storedName: String { "http" }
}

extension JSONRequestSerializer: StorableSerializer {
    /// The name in what is stored.
    public static var storedName: String { "json" }
}

extension HTTPResponseSerializer: StorableSerializer {
    /// The name in what is stored.
    public static var storedName: String { "http" }
}

extension JSONResponseSerializer: StorableSerializer {
    /// The name in what is stored.
    public static var storedName: String { "json" }
}

extension StringResponseSerializer: StorableSerializer {
    /// The name in what is stored.
    public static var storedName: String { "string" }
}

extension CompoundResponseSerializer: StorableSerializer {
    /// The name in what is stored.
    public static var storedName: String { "compound" }
}
