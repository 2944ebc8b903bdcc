// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Tries several serializers: the first that makes an object wins, with its error.
///
/// Else the result is the content as it is, judged by ``validation``. The object is a `String`, `Data` …:
///
/// ```swift
/// let serializer = CompoundResponseSerializer([JSONResponseSerializer(), StringResponseSerializer()])
/// switch serializer.serialize(data, response: response).value {
/// case let json as JSONValue: read(json)
/// case let text as String: show(text)
/// default: break
/// }
/// ```
public struct CompoundResponseSerializer: ResponseSerializer {
    /// The serializers, in the order in which they are tried.
    public var serializers: [any ResponseSerializer]
    /// Judges content that no serializer takes.
    public var validation: ResponseValidation

    /// A serializer.
    public init(
        _ serializers: [any ResponseSerializer], validation: ResponseValidation = ResponseValidation()
    ) {
        self.serializers = serializers
        self.validation = validation
    }

    /// The object of the first serializer that makes one; else the content.
    public func serialize(_ data: Data?, response: SessionResponse?) -> SerializedResponse<any Sendable> {
        for serializer in serializers {
            let result = Self.serialize(serializer, data, response)
            if result.value != nil { return result }
        }
        return Self.serialize(HTTPResponseSerializer(validation: validation), data, response)
    }

    private static func serialize(
        _ serializer: some ResponseSerializer, _ data: Data?, _ response: SessionResponse?
    ) -> SerializedResponse<any Sendable> {
        let result = serializer.serialize(data, response: response)
        guard let value = result.value else { return SerializedResponse(nil, error: result.error) }
        return SerializedResponse(value, error: result.error)
    }
}

extension CompoundResponseSerializer: Codable {
    private enum CodingKeys: String, CodingKey { case validation, serializers }

    /// Reads what ``encode(to:)`` wrote.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decode([StoredResponseSerializer].self, forKey: .serializers).map(\.serializer),
            validation: try container.decode(ResponseValidation.self, forKey: .validation))
    }

    /// Writes the rules and the serializers.
    ///
    /// - Throws: `EncodingError` where one is no ``StorableSerializer``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(validation, forKey: .validation)
        let stored = try serializers.map {
            try StoredResponseSerializer($0, at: container.codingPath + [CodingKeys.serializers])
        }
        try container.encode(stored, forKey: .serializers)
    }
}
