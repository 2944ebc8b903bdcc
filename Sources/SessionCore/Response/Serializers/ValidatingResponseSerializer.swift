// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// A serializer that judges a response first and then decodes its content: what most serializers are.
///
/// An own format needs ``decode(_:response:)`` alone:
///
/// ```swift
/// struct LineSerializer: ValidatingResponseSerializer {
///     var validation = ResponseValidation(contentTypes: ["text/plain"])
///
///     func decode(_ data: Data?, response: SessionResponse?) throws(SessionError) -> [String]? {
///         data.map { String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init) }
///     }
/// }
/// ```
public protocol ValidatingResponseSerializer<Value>: ResponseSerializer {
    /// What it makes.
    associatedtype Value
    /// Which responses are acceptable.
    var validation: ResponseValidation { get set }
    /// The object that the content stands for; nil where the content is empty and that is fine.
    ///
    /// Called for acceptable responses, and for those whose status alone is not acceptable: what the server
    /// says about a failure is decoded as well.
    ///
    /// - Throws: why the content cannot be read; the caller adds URL, response and content to the error.
    func decode(_ data: Data?, response: SessionResponse?) throws(SessionError) -> Value?
}

extension ValidatingResponseSerializer {
    /// Judges, then decodes; see ``ResponseValidation/judge(_:data:)`` for the errors.
    ///
    /// Content of the wrong type is not decoded; if it is unreadable, a wrong status is the inner error.
    public func serialize(_ data: Data?, response: SessionResponse?) -> SerializedResponse<Value> {
        var rejection: SessionError?
        if case .unacceptable(let error) = validation.judge(response, data: data) { rejection = error }
        if let rejection, rejection.contains(.cannotDecodeContentData, in: .responseSerialization) {
            return SerializedResponse(nil, error: rejection)
        }
        do throws(SessionError) {
            return SerializedResponse(try decode(data, response: response), error: rejection)
        } catch {
            let failure = error.with(
                failingURL: response?.url, response: response, data: data, underlying: rejection)
            return SerializedResponse(nil, error: failure)
        }
    }

    /// What ``validation`` says of the head alone; of content that has not come no type is wrong.
    public func refusal(of response: SessionResponse) -> SessionError? {
        guard case .unacceptable(let error) = validation.judge(response, data: nil) else { return nil }
        return error
    }

    /// The acceptable status codes; nil for all.
    public var acceptableStatusCodes: StatusCodes? {
        get { validation.statusCodes }
        set { validation.statusCodes = newValue }
    }

    /// The acceptable media types; nil for all.
    public var acceptableContentTypes: Set<MediaRange>? {
        get { validation.contentTypes }
        set { validation.contentTypes = newValue }
    }
}

extension SessionError {
    /// Content that is not what it should be.
    package static func unreadable(
        _ message: String, advice: String = "", underlying: (any Error)? = nil
    ) -> SessionError {
        SessionError(
            .cannotParseResponse, message, advice: advice, domain: .responseSerialization,
            underlying: underlying)
    }
}
