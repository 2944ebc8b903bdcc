// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

extension RequestSerializer {
    /// A request for a method and an address written as text.
    ///
    /// - Throws: ``SessionError/Code/badURL`` where the address is no absolute `http` or `https` URL or the method no token (RFC 9110 §9.1);
    ///   otherwise as ``serialize(_:parameters:)``.
    public func makeRequest(
        _ method: String, _ address: String, parameters: ParameterValue? = nil
    ) throws(SessionError) -> SessionRequest {
        guard !method.isEmpty, let method = HTTPRequest.Method(rawValue: method) else {
            throw SessionError(
                .badURL, "\(TextQuote(method)) is no method of HTTP", domain: .requestSerialization)
        }
        return try serialize(try SessionRequest(address, method: method), parameters: parameters)
    }

    /// The request with an `Encodable` value as its parameters; see ``ParameterEncoder``.
    ///
    /// - Throws: what the value's encoding throws, as ``SessionError/underlying``; otherwise as ``serialize(_:parameters:)``.
    public func serialize(
        _ request: SessionRequest, encoding value: some Encodable
    ) throws(SessionError) -> SessionRequest {
        try serialize(request, parameters: try ParameterValue(encoding: value))
    }

    /// The request with a value of a type that the compiler does not know as its parameters; see ``ParameterValue/init(untyped:)``.
    ///
    /// - Throws: ``SessionError/Code/cannotDecodeContentData`` where it cannot be expressed as parameters; otherwise as
    ///   ``serialize(_:parameters:)``.
    public func serialize(
        _ request: SessionRequest, untyped parameters: Any?
    ) throws(SessionError) -> SessionRequest {
        try serialize(request, parameters: try parameters.map(ParameterValue.init(untyped:)))
    }
}
