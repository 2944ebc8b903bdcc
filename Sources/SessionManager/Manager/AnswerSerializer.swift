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

    /// An answer without content is an error, too.
    func serialize(_ data: Data?, response: SessionResponse?) -> SerializedResponse<Value> {
        // An error's content is rarely a `Value`; the status says more than the decoder's complaint.
        if let response, let error = refusal(of: response) {
            return SerializedResponse(
                nil, error: error.with(failingURL: response.url, response: response, data: data))
        }
        let result = decoding.serialize(data, response: response)
        guard result.value == nil, result.error == nil else { return result }
        let error = Self.missing(failingURL: response?.url)
        return SerializedResponse(nil, error: error.with(response: response, data: data))
    }

    func refusal(of response: SessionResponse) -> SessionError? { judge.refusal(of: response) }

    static func missing(failingURL: URL?) -> SessionError {
        SessionError(
            .cannotParseResponse, "the response has no content, and a \(Value.self) was expected",
            advice: "expect an EmptyResponse, or use data(_:_:…), where there may be none",
            domain: .responseSerialization, failingURL: failingURL)
    }
}

/// What a serializer made of the content, whatever it makes.
typealias SerializedContent = SerializedResponse<any Sendable>

extension ResponseSerializer {
    func content(_ data: Data?, of response: SessionResponse?) -> SerializedContent {
        let result = serialize(data, response: response)
        return SerializedContent(result.value, error: result.error)
    }
}
