// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import HTTPTypes

/// Makes a value of a type of yours out of the content.
///
/// A response without content is fine after HEAD and with 204 and 205: no object, or ``EmptyDecodable/empty``
/// of a type that has one. Otherwise it is ``SessionError/Code/zeroByteResource``.
public struct DecodableResponseSerializer<Value: Decodable & Sendable>: ValidatingResponseSerializer {
    /// Which responses are acceptable; the types of JSON unless said.
    public var validation: ResponseValidation
    /// What reads the content; a decoder of ``JSONCoding`` at first.
    public var decoder: any ContentDecoder
    /// The status codes whose responses need no content.
    public var emptyStatusCodes: StatusCodes = [204...205]
    /// The methods whose responses need no content.
    public var emptyMethods: Set<HTTPRequest.Method> = [.head]

    /// A serializer of JSON, or of whatever the decoder reads.
    public init(
        _ type: Value.Type = Value.self, validation: ResponseValidation = JSONResponseSerializer().validation,
        decoder: any ContentDecoder = JSONCoding.decoder()
    ) {
        self.validation = validation
        self.decoder = decoder
    }

    /// The value; see the type for content that is empty.
    public func decode(_ data: Data?, response: SessionResponse?) throws(SessionError) -> Value? {
        guard let data, !data.isEmpty else { return try emptyValue(response) }
        do {
            return try decoder.decode(Value.self, from: data)
        } catch {
            // Foundation's decoder does not say where content stops to be JSON.
            if decoder is JSONDecoder { try checkSyntax(data) }
            throw .unreadable("the content is no \(Value.self): \(reason(error))", underlying: error)
        }
    }

    private func checkSyntax(_ data: Data) throws(SessionError) {
        do { _ = try JSONValue(parsing: data) } catch {
            throw .unreadable("the content is no JSON: \(error)", underlying: error)
        }
    }

    private func emptyValue(_ response: SessionResponse?) throws(SessionError) -> Value? {
        if let type = Value.self as? any EmptyDecodable.Type, let value = type.empty as? Value {
            return value
        }
        // Content of the wrong type would have been refused; of none nothing can be misread.
        if let response {
            if response.statusCode.map(emptyStatusCodes.contains) ?? false { return nil }
            if response.requestMethod.map(emptyMethods.contains) ?? false { return nil }
        }
        throw SessionError(
            .zeroByteResource, "the response has no content, and the type \(Value.self) is expected",
            domain: .responseSerialization)
    }
}

/// The value of a response that need not have content: `DecodableResponseSerializer(EmptyResponse.self)`.
public struct EmptyResponse: Codable, Sendable, Equatable, EmptyDecodable {
    /// Nothing.
    public init() {}
    /// Nothing.
    public static var empty: EmptyResponse { EmptyResponse() }
}

/// A type with a value for responses without content.
public protocol EmptyDecodable: Decodable {
    /// That value.
    static var empty: Self { get }
}

/// What goes wrong and where, in one line.
private func reason(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    let (context, what): (DecodingError.Context, String)
    switch error {
    case .keyNotFound(let key, let found):
        (context, what) = (found, "\(TextQuote(key.stringValue)) is missing")
    case .valueNotFound(let type, let found): (context, what) = (found, "the type \(type) is missing")
    case .typeMismatch(let type, let found): (context, what) = (found, "the type \(type) is expected")
    case .dataCorrupted(let found): (context, what) = (found, found.debugDescription)
    @unknown default: return "\(error)"
    }
    let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
        .joined(separator: ".")
    return path.isEmpty ? what : "\(what) at \(TextQuote(path))"
}

/// Something that reads values of any decodable type from bytes; `JSONDecoder` is one.
public protocol ContentDecoder: Sendable {
    /// A value of the type.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: ContentDecoder {}
