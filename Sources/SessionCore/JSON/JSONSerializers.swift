// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Puts parameters into a JSON body (RFC 8259), or into the query for methods that have them in the URL.
///
/// Without parameters there is neither a body nor a `Content-Type`.
public struct JSONRequestSerializer: RequestSerializer {
    /// Header fields, options, and all about queries.
    public var base: HTTPRequestSerializer
    /// How the body is written.
    public var writingOptions: JSONWritingOptions

    /// A serializer.
    public init(
        base: HTTPRequestSerializer = HTTPRequestSerializer(),
        writingOptions: JSONWritingOptions = JSONWritingOptions()
    ) {
        self.base = base
        self.writingOptions = writingOptions
    }

    /// The request with the parameters as its JSON body.
    ///
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` where the parameters are no JSON object or
    ///   array, or have a number that is not finite, a set, or (unless ``writingOptions`` say how to write
    ///   them) a date or data; ``SessionError/advice`` says where.
    public func serialize(
        _ request: SessionRequest, parameters: ParameterValue?
    ) throws(SessionError) -> SessionRequest {
        try base.serialize(request, parameters: parameters, as: "application/json") {
            parameters throws(SessionError) in try writingOptions.data(parameters)
        }
    }

    /// What ``base`` makes of parameters in a query.
    ///
    /// - Throws: as ``HTTPRequestSerializer/query(of:for:)``.
    public func query(
        of parameters: ParameterValue, for request: SessionRequest
    ) throws(SessionError) -> String {
        try base.query(of: parameters, for: request)
    }

    /// The request with an untyped value as its JSON body; see ``ParameterValue/init(untyped:)``.
    ///
    /// - Throws: as ``serialize(_:parameters:)``.
    public func serialize(
        _ request: SessionRequest, untyped parameters: Any?
    ) throws(SessionError) -> SessionRequest {
        guard let parameters else { return try serialize(request, parameters: nil) }
        let value: ParameterValue
        do throws(SessionError) {
            value = try ParameterValue(untyped: parameters)
        } catch {
            throw JSONWritingOptions.invalid(error.message, underlying: error)
        }
        return try serialize(request, parameters: value)
    }
}

/// Everything but closures.
extension JSONRequestSerializer: Codable {
    private enum CodingKeys: CodingKey { case base, writingOptions }

    /// Reads what is there; the rest has its default.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            base: try values.decodeIfPresent(HTTPRequestSerializer.self, forKey: .base)
                ?? HTTPRequestSerializer(),
            writingOptions: try values.decodeIfPresent(JSONWritingOptions.self, forKey: .writingOptions)
                ?? JSONWritingOptions())
    }
}

/// Reads JSON into a ``JSONValue``.
///
/// Empty content, and a single space as some frameworks send it for “nothing”, is no object and no error.
public struct JSONResponseSerializer: ValidatingResponseSerializer, Equatable, Codable {
    /// Which responses are acceptable; `application/json`, `text/json` and `text/javascript` unless said.
    public var validation: ResponseValidation
    /// Whether the content may be a string, number, truth value or null instead of an array or object; false.
    public var allowsFragments: Bool
    /// Whether members and elements that are null are left out, at every level; false.
    public var removesNullValues: Bool

    /// A serializer.
    public init(
        validation: ResponseValidation = ResponseValidation(
            contentTypes: ["application/json", "text/json", "text/javascript"]),
        allowsFragments: Bool = false, removesNullValues: Bool = false
    ) {
        self.validation = validation
        self.allowsFragments = allowsFragments
        self.removesNullValues = removesNullValues
    }

    /// The document; nil for empty content or a single space.
    public func decode(_ data: Data?, response: SessionResponse?) throws(SessionError) -> JSONValue? {
        guard let data, !data.isEmpty, !(data.count == 1 && data.first == 0x20) else { return nil }
        var value: JSONValue
        do {
            value = try JSONValue(parsing: data)
        } catch {
            throw .unreadable("the content is no JSON: \(error)", underlying: error)
        }
        switch value {
        case .array, .object: break
        default:
            guard allowsFragments else {
                throw .unreadable(
                    "the content is JSON, but neither an array nor an object",
                    advice: "set allowsFragments to take it")
            }
        }
        if removesNullValues { value = value.removingNulls() }
        return value
    }
}
