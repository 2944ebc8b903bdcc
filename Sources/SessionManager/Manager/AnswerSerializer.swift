// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// Makes a value of an answer: the manager's serializer judges the response, its decoder reads the content.
struct AnswerSerializer<Value: Decodable & Sendable>: ResponseSerializer {
    private let judge: any ResponseSerializer
    private let decoding: DecodableResponseSerializer<Value>

    init(_ judge: any ResponseSerializer, _ decoder: any ContentDecoder) {
        self.judge = judge
        var decoding = DecodableResponseSerializer<Value>(decoder: decoder)
        // The manager's serializer also says which media types are of the format; text can be of any.
        if !(judge is StringResponseSerializer), let judge = judge as? any ValidatingResponseSerializer {
            decoding.validation = judge.validation
        }
        decoding.acceptableStatusCodes = nil
        self.decoding = decoding
    }

    /// An answer without content is nil as an optional value, and an error as any other.
    func serialize(_ data: Data?, response: SessionResponse?) -> SerializedResponse<Value> {
        // An error's content is rarely a `Value`; the status says more than the decoder's complaint.
        if let response, let error = refusal(of: response) {
            return SerializedResponse(
                nil,
                error: error.with(
                    failingURL: response.url, response: response, data: data,
                    underlying: error.underlying ?? wrongType(of: response, data)))
        }
        if data?.isEmpty != false, let absent = Self.absent { return SerializedResponse(absent) }
        let result = decoding.serialize(data, response: response)
        guard result.value == nil, result.error == nil else { return result }
        let error = Self.missing(failingURL: response?.url)
        return SerializedResponse(nil, error: error.with(response: response, data: data))
    }

    func refusal(of response: SessionResponse) -> SessionError? { judge.refusal(of: response) }

    /// The error of content of a wrong type, which the status says more about; nil for a right one.
    private func wrongType(of response: SessionResponse, _ data: Data?) -> SessionError? {
        guard case .unacceptable(let error) = decoding.validation.judge(response, data: data) else {
            return nil
        }
        return error
    }

    /// Nil as a value, where the type is an optional one.
    private static var absent: Value? { (Value.self as? any OptionalValue.Type)?.absent as? Value }

    static func missing(failingURL: URL?) -> SessionError {
        SessionError(
            .cannotParseResponse, "the response has no content, and the type \(Value.self) was expected",
            advice: "expect an optional or an EmptyResponse, or use data(_:_:…), where there may be none",
            domain: .responseSerialization, failingURL: failingURL)
    }
}

/// A type of which nil is a value.
private protocol OptionalValue {
    static var absent: Self { get }
}

extension Optional: OptionalValue {
    fileprivate static var absent: Wrapped? { nil }
}

/// What a serializer made of the content, whatever it makes.
typealias SerializedContent = SerializedResponse<any Sendable>

extension ResponseSerializer {
    func content(_ data: Data?, of response: SessionResponse?) -> SerializedContent {
        let result = serialize(data, response: response)
        return SerializedContent(result.value, error: result.error)
    }
}
