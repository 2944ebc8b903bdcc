// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import HTTPTypes
public import SessionCore

/// A request as a server would get it: after serializers, adapters, redirects and credentials.
public struct SentRequest: Sendable {
    /// The method.
    public let method: HTTPRequest.Method
    /// The URL, without its fragment.
    public let url: URL
    /// The header fields as they are sent, with those of the transfer such as `Host` and `Content-Length`.
    public let headerFields: HTTPFields
    /// The bytes of the body, of whatever they were made: data, a file, a stream, a form; empty for none.
    public let body: Data
    /// How often this task has sent this request, this time included; 2 for the first repetition.
    ///
    /// A repetition has the same method and URL: another try, a rest that is asked for, credentials.
    public let attempt: Int
    /// The ``SessionManager/SessionTask/identifier`` of its task.
    public let taskIdentifier: Int

    package init(
        method: HTTPRequest.Method, url: URL, headerFields: HTTPFields = HTTPFields(), body: Data = Data(),
        attempt: Int = 1, taskIdentifier: Int = 0
    ) {
        self.method = method
        self.url = url
        self.headerFields = headerFields
        self.body = body
        self.attempt = attempt
        self.taskIdentifier = taskIdentifier
    }

    /// The path of the URL, percent-encoded: `/v1/users/1`.
    public var path: String { url.path(percentEncoded: true) }

    /// The first value of a name in the query, decoded; nil where there is none.
    public func query(_ name: String) -> String? {
        URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems?.first { $0.name == name }?.value
    }

    /// The value of a header field, whatever the case of its name; nil where it is not sent.
    public func value(forHeader name: String) -> String? {
        HTTPField.Name(name).flatMap { headerFields[$0] }
    }

    /// The body as text in UTF-8.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as a JSON document, whatever its shape.
    ///
    /// - Throws: ``SessionCore/JSONParseError`` with line and column.
    public func json() throws -> JSONValue { try JSONValue(parsing: body) }

    /// The body as a value that is written as JSON.
    ///
    /// - Throws: `DecodingError`.
    public func json<Value: Decodable>(
        as type: Value.Type, by decoder: JSONDecoder = JSONCoding.decoder()
    ) throws -> Value {
        try decoder.decode(type, from: body)
    }

    /// The fields of a body that is written as a form (application/x-www-form-urlencoded), the last of each
    /// name.
    public var form: [String: String] {
        var fields: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let words = parts.map { $0.replacing("+", with: " ").percentDecoded }
            fields[words[0]] = words.count > 1 ? words[1] : ""
        }
        return fields
    }
}

extension SentRequest: CustomStringConvertible {
    /// Method and URL, without user, password and query, where secrets are.
    public var description: String { "\(method.rawValue) \(url.host() ?? "")\(path)" }
}

extension StringProtocol {
    /// With the bytes that percent signs stand for (RFC 3986 §2.1); others are kept as they are.
    var percentDecoded: String {
        var (bytes, rest) = ([UInt8](), Array(utf8)[...])
        while let first = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if first == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy(\.isHexDigit),
                let byte = UInt8(digits, radix: 16)
            {
                bytes.append(byte)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(first)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
