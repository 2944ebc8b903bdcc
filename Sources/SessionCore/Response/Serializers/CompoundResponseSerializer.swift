// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Tries several serializers: the first that makes an object wins, with its error.
///
/// Where none does, the result is the content as it is, judged by ``validation``. The object is a `JSONValue`, an
/// `ImageDescription`, `Data` …:
///
/// ```swift
/// let serializer = CompoundResponseSerializer([ImageResponseSerializer(), JSONResponseSerializer()])
/// switch serializer.serialize(data, response: response).value {
/// case let image as ImageDescription: show(image)
/// case let json as JSONValue: read(json)
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
