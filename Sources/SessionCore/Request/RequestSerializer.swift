// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// Puts parameters into a request: into its URL, or into its body with the fitting `Content-Type`.
public protocol RequestSerializer: Sendable {
    /// The request with the serializer's header fields and options, and the parameters in their place.
    ///
    /// - Throws: an error of ``SessionError/Domain/requestSerialization`` for parameters that do not fit.
    func serialize(
        _ request: SessionRequest, parameters: ParameterValue?
    ) throws(SessionError) -> SessionRequest

    /// The request with an untyped value as its parameters; see ``ParameterValue/init(untyped:)``.
    ///
    /// Own serializers need not have it: the default one calls ``serialize(_:parameters:)``.
    ///
    /// - Throws: as ``serialize(_:parameters:)``, also where the value cannot be expressed as parameters.
    func serialize(_ request: SessionRequest, untyped parameters: Any?) throws(SessionError) -> SessionRequest

    /// The text that parameters become in a URL's query, and in the body of a form.
    ///
    /// Own serializers need not have it: the default one takes a ``QueryStringEncoder`` as it is made.
    ///
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` where the parameters cannot be written.
    func query(
        of parameters: ParameterValue, for request: SessionRequest
    ) throws(SessionError) -> String
}

extension RequestSerializer {
    /// The text that parameters become in a URL's query, and in the body of a form.
    ///
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` where the parameters cannot be written.
    public func query(
        of parameters: ParameterValue, for request: SessionRequest
    ) throws(SessionError) -> String {
        String(decoding: try QueryStringEncoder().bytes(parameters), as: UTF8.self)
    }

    /// A request for a method and an address written as text.
    ///
    /// - Throws: ``SessionError/Code/badURL`` where the address is no absolute `http` or `https` URL or the
    ///   method no token (RFC 9110 §9.1); otherwise as ``serialize(_:parameters:)``.
    public func makeRequest(
        _ method: String, _ address: String, parameters: ParameterValue? = nil
    ) throws(SessionError) -> SessionRequest {
        try serialize(try Self.request(method, address), parameters: parameters)
    }

    private static func request(_ method: String, _ address: String) throws(SessionError) -> SessionRequest {
        guard !method.isEmpty, let method = HTTPRequest.Method(rawValue: method) else {
            throw SessionError(
                .badURL, "\(TextQuote(method)) is no method of HTTP", domain: .requestSerialization)
        }
        return try SessionRequest(address, method: method)
    }

    /// The request with an `Encodable` value as its parameters; see ``ParameterEncoder``.
    ///
    /// - Throws: as ``serialize(_:parameters:)``, and the value's own error as ``SessionError/underlying``.
    public func serialize(
        _ request: SessionRequest, encoding value: some Encodable
    ) throws(SessionError) -> SessionRequest {
        try serialize(request, parameters: try ParameterValue(encoding: value))
    }

    /// The request with an untyped value as its parameters; see ``ParameterValue/init(untyped:)``.
    ///
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` where it cannot be expressed as parameters;
    ///   otherwise as ``serialize(_:parameters:)``.
    public func serialize(
        _ request: SessionRequest, untyped parameters: Any?
    ) throws(SessionError) -> SessionRequest {
        try serialize(request, parameters: try parameters.map(ParameterValue.init(untyped:)))
    }
    /// The request with a form of several parts as its body.
    ///
    /// `Content-Type` becomes the form's, whatever was there. The length travels as ``BodySource/length``:
    /// the transfer sends it as `Content-Length`. Without parameters and parts the request is what
    /// ``serialize(_:parameters:)`` makes of it.
    ///
    /// - Parameters:
    ///   - parameters: become the first parts, flattened and sorted like a query; data as they are.
    ///   - encoder: how parameters are named and written.
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` for GET, HEAD and unwritable parameters.
    public func serialize(
        _ request: SessionRequest, parameters: ParameterValue?, form: MultipartFormData,
        encoder: QueryStringEncoder = QueryStringEncoder()
    ) throws(SessionError) -> SessionRequest {
        let method = request.method.rawValue.uppercased()
        guard method != "GET", method != "HEAD" else {
            throw SessionError(
                .cannotDecodeContentData, "a multipart form cannot be sent with \(method)",
                advice: "use POST", domain: .requestSerialization, failingURL: request.url)
        }
        var form = form
        if let parameters { try form.prepend(parameters, encoder) }
        var serialized = try serialize(request, parameters: nil)
        guard !form.isEmpty else { return serialized }
        serialized.headerFields[.contentType] = form.contentType
        serialized.body = .stream(form.makeBody())
        return serialized
    }

    /// A request with a form of several parts as its body, for a method and an address written as text.
    ///
    /// - Parameter build: adds the parts.
    /// - Throws: ``SessionError/Code/badURL`` as ``makeRequest(_:_:parameters:)``; what `build` throws;
    ///   otherwise as ``serialize(_:parameters:form:encoder:)``.
    public func makeMultipartRequest(
        _ method: String = "POST", _ address: String, parameters: ParameterValue? = nil,
        boundary: MultipartBoundary = MultipartBoundary(),
        build: (inout MultipartFormData) throws(SessionError) -> Void
    ) throws(SessionError) -> SessionRequest {
        var form = MultipartFormData(boundary: boundary)
        try build(&form)
        return try serialize(try Self.request(method, address), parameters: parameters, form: form)
    }
}
