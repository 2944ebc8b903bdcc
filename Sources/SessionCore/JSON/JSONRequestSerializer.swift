// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes

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
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` where the parameters are no JSON object or array, or have a number that is not
    ///   finite, a set, or (unless ``writingOptions`` say how to write them) a date or data; ``SessionError/advice`` says where.
    public func serialize(
        _ request: SessionRequest, parameters: ParameterValue?
    ) throws(SessionError) -> SessionRequest {
        if base.encodesInURI(request.method) { return try base.serialize(request, parameters: parameters) }
        var request = base.prepared(request)
        guard let parameters else { return request }
        request.body = .data(try writingOptions.data(parameters))
        request.setContentType("application/json")
        return request
    }

    /// The request with a value of a type that the compiler does not know as its JSON body; see ``ParameterValue/init(untyped:)``.
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

extension SessionRequest {
    /// Sets the type of the body unless there is one.
    package mutating func setContentType(_ type: String) {
        guard !headerFields.contains(.contentType) else { return }
        headerFields.append(HTTPField(name: .contentType, value: type))
    }
}
