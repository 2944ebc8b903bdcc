// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Makes an object out of the content of a response, after judging the response.
///
/// Serializers are values without state and may be called from many threads at once.
public protocol ResponseSerializer<Value>: Sendable {
    /// What it makes.
    associatedtype Value: Sendable
    /// The object, the error, both or neither.
    ///
    /// - Parameters:
    ///   - data: the content; nil where there was none to speak of, for instance with 204.
    ///   - response: the head; nil where there is none.
    func serialize(_ data: Data?, response: SessionResponse?) -> SerializedResponse<Value>
    /// Why a response is not acceptable, whatever its content; nil where it is, or where the content decides.
    ///
    /// Asked before the content of a download is written, and whether a failure may be tried again. Unless
    /// said it is what ``serialize(_:response:)`` says of the response without content, but for its absence.
    func refusal(of response: SessionResponse) -> SessionError?
}

extension ResponseSerializer {
    /// What ``serialize(_:response:)`` says of the response without content, except that there is none.
    public func refusal(of response: SessionResponse) -> SessionError? {
        let error = serialize(nil, response: response).error
        // An unacceptable status lies underneath.
        return error?.code == .zeroByteResource ? error?.underlying as? SessionError : error
    }
}

/// What a serializer made of a response.
///
/// Both may come together: a body `{"error": …}` under status 500 is decoded *and* reported as a failure.
public struct SerializedResponse<Value: Sendable>: Sendable {
    /// The object; nil also where an acceptable response has no content.
    public var value: Value?
    /// Why the response is not acceptable or could not be decoded.
    public var error: SessionError?

    /// A result.
    public init(_ value: Value?, error: SessionError? = nil) {
        self.value = value
        self.error = error
    }
}
