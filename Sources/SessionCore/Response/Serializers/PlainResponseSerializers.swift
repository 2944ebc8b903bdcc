// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Reads text.
///
/// The encoding is the serializer's own where it has one, else the one that the response names, else
/// ISO-8859-1. Bytes that are not of the encoding are an error, never replaced in silence.
public struct StringResponseSerializer: ValidatingResponseSerializer, Equatable, Codable {
    /// Which responses are acceptable; all types unless said.
    public var validation: ResponseValidation
    /// The encoding whatever the response says; nil to believe the response.
    public var encoding: TextEncoding?

    /// A serializer.
    public init(validation: ResponseValidation = ResponseValidation(), encoding: TextEncoding? = nil) {
        self.validation = validation
        self.encoding = encoding
    }

    /// The text; nil where there is no content at all.
    public func decode(_ data: Data?, response: SessionResponse?) throws(SessionError) -> String? {
        guard let data else { return nil }
        let encoding = if let own = self.encoding { own } else { try named(by: response) }
        guard let text = encoding.decode(data) else {
            throw .unreadable(
                "the content is no text in \(encoding.rawValue)",
                advice: "set the serializer's encoding if the server names the wrong one")
        }
        return text
    }

    private func named(by response: SessionResponse?) throws(SessionError) -> TextEncoding {
        guard let charset = response?.charset else { return .latin1 }
        guard let encoding = TextEncoding(charset: charset) else {
            throw .unreadable(
                "the content is text in \(TextQuote(charset)), which cannot be read here",
                advice: "ask the server for UTF-8, or set the serializer's encoding")
        }
        return encoding
    }
}

/// Judges a response and hands its content on as it is, also where the response is not acceptable.
public struct HTTPResponseSerializer: ResponseSerializer, Equatable, Codable {
    /// Which responses are acceptable.
    public var validation: ResponseValidation

    /// A serializer; every type is acceptable unless said.
    public init(validation: ResponseValidation = ResponseValidation()) { self.validation = validation }

    /// The content, and an error where the response is not acceptable.
    public func serialize(_ data: Data?, response: SessionResponse?) -> SerializedResponse<Data> {
        switch validation.judge(response, data: data) {
        case .acceptable: SerializedResponse(data)
        case .unacceptable(let error): SerializedResponse(data, error: error)
        }
    }
}

/// Hands the content on as it is and accepts every response.
public struct DataResponseSerializer: ResponseSerializer, Equatable {
    /// A serializer.
    public init() {}

    /// The content.
    public func serialize(_ data: Data?, response: SessionResponse?) -> SerializedResponse<Data> {
        SerializedResponse(data)
    }
}
