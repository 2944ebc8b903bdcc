// SPDX-License-Identifier: Apache-2.0

/// Puts parameters into a request: into its URL, or into its body with the fitting `Content-Type`.
public protocol RequestSerializer: Sendable {
    /// The request with the serializer's own header fields and options and with the parameters in their place.
    ///
    /// - Throws: an error of the domain ``SessionError/Domain/requestSerialization`` where the parameters cannot be written in
    ///   this format.
    func serialize(
        _ request: SessionRequest, parameters: ParameterValue?
    ) throws(SessionError) -> SessionRequest

    /// The request with a value of a type that the compiler does not know as its parameters; see ``ParameterValue/init(untyped:)``.
    ///
    /// Own serializers need not have it: the one that comes with the protocol calls ``serialize(_:parameters:)``.
    ///
    /// - Throws: as ``serialize(_:parameters:)``, also where the value cannot be expressed as parameters.
    func serialize(
        _ request: SessionRequest, untyped parameters: Any?
    ) throws(SessionError) -> SessionRequest
}
