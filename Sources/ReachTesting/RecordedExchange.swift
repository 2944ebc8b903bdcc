// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore

/// One request and its answer, as a line of JSON in a recording.
struct RecordedExchange: Sendable, Equatable, Codable {
    /// Bytes: as text where they are UTF-8, so that people can read and change them.
    enum Content: Sendable, Equatable {
        case text(String)
        case bytes(Data)

        init(_ data: Data) {
            self = String(validating: data, as: UTF8.self).map { .text($0) } ?? .bytes(data)
        }

        var data: Data {
            switch self {
            case .text(let text): Data(text.utf8)
            case .bytes(let data): data
            }
        }
    }

    var method: String
    /// Without user, password, fragment and the values of secrets.
    var url: String
    /// Of the request; nil for none.
    var body: Content?
    var status = 0
    /// In the order in which they came.
    var headers: [[String]] = []
    /// Of the answer; nil for none.
    var content: Content?
    /// The ``SessionCore/SessionError/Code`` of a failure; nil for an answer.
    var failure: Int?

    /// What requests are told apart by.
    var key: Key { Key(method: method, url: url, body: body?.data ?? Data()) }

    struct Key: Hashable, Sendable, CustomStringConvertible {
        let method: String
        let url: String
        let body: Data

        var description: String {
            body.isEmpty ? "\(method) \(url)" : "\(method) \(url) with \(body.count) bytes"
        }
    }

    /// The answer that was recorded.
    var answer: Answer {
        if let failure { return .failure(SessionError.Code(rawValue: failure)) }
        var answer = Answer(status: status)
        for header in headers where header.count == 2 { answer = answer.header(header[0], header[1]) }
        if let content { answer.steps = [.content(content.data)] }
        return answer
    }

    // MARK: JSON

    private enum CodingKeys: String, CodingKey {
        case method, url, body, bodyBase64, status, headers, content, contentBase64, failure
    }

    init(method: String, url: String, body: Content? = nil) {
        self.method = method
        self.url = url
        self.body = body
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        method = try values.decode(String.self, forKey: .method)
        url = try values.decode(String.self, forKey: .url)
        body = try values.content(.body, .bodyBase64)
        status = try values.decodeIfPresent(Int.self, forKey: .status) ?? 0
        headers = try values.decodeIfPresent([[String]].self, forKey: .headers) ?? []
        content = try values.content(.content, .contentBase64)
        failure = try values.decodeIfPresent(Int.self, forKey: .failure)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(method, forKey: .method)
        try values.encode(url, forKey: .url)
        try values.encode(body, .body, .bodyBase64)
        if let failure { return try values.encode(failure, forKey: .failure) }
        try values.encode(status, forKey: .status)
        try values.encode(headers, forKey: .headers)
        try values.encode(content, .content, .contentBase64)
    }
}

extension KeyedDecodingContainer {
    fileprivate func content(_ text: Key, _ bytes: Key) throws -> RecordedExchange.Content? {
        if let text = try decodeIfPresent(String.self, forKey: text) { return .text(text) }
        return try decodeIfPresent(Data.self, forKey: bytes).map { .bytes($0) }
    }
}

extension KeyedEncodingContainer {
    fileprivate mutating func encode(
        _ content: RecordedExchange.Content?, _ textKey: Key, _ bytesKey: Key
    ) throws {
        switch content {
        case nil: break
        case .text(let text): try encode(text, forKey: textKey)
        case .bytes(let data): try encode(data, forKey: bytesKey)
        }
    }
}
