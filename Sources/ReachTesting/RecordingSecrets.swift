// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore

/// What a recording must not contain, and what stands there instead.
struct RecordingSecrets: Sendable {
    static let placeholder = "-secret-"
    /// Names of parameters and of members of JSON objects that mostly have secrets, in lower case.
    private static let usual: Set<String> = [
        "access_token", "refresh_token", "id_token", "token", "api_key", "apikey", "key", "secret",
        "client_secret", "password", "passwd", "pass", "signature", "sig", "authorization", "x-amz-signature",
        "x-amz-credential", "x-amz-security-token",
    ]

    private let names: Set<String>
    private let fields: SensitiveFields

    /// - Parameter others: further names of header fields, parameters and members.
    init(_ others: [String]) {
        names = Self.usual.union(others.map { $0.lowercased() })
        fields = SensitiveFields(adding: others)
    }

    /// A request as it is recorded, and looked for again.
    func exchange(of request: SentRequest) -> RecordedExchange {
        let type = request.value(forHeader: "content-type")
        let body = request.body.isEmpty ? nil : RecordedExchange.Content(redacted(request.body, type))
        return RecordedExchange(method: request.method.rawValue, url: redacted(request.url), body: body)
    }

    /// The header fields of an answer that are recorded.
    func headers(_ fields: HTTPFields) -> [[String]] {
        fields.compactMap { field in
            self.fields.contains(field.name) || Self.framing.contains(field.name.canonicalName)
                ? nil : [field.name.rawName, field.value]
        }
    }

    /// They belong to the connection that there was.
    private static let framing: Set<String> = [
        "connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding",
    ]

    /// Content without the values of secrets, where it is a form or JSON.
    func redacted(_ content: Data, _ type: String?) -> Data {
        let type = type?.lowercased() ?? ""
        if type.contains("json"), let document = try? JSONValue(parsing: content) {
            let redacted = redacted(document)
            guard redacted != document, let data = try? JSONEncoder().encode(redacted) else { return content }
            return data
        }
        guard type.hasPrefix("application/x-www-form-urlencoded") else { return content }
        return Data(redacted(pairs: String(decoding: content, as: UTF8.self)).utf8)
    }

    private func redacted(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): return .array(elements.map { redacted($0) })
        case .object(let members):
            var new: [String: JSONValue] = [:]
            for (name, member) in members {
                let isSecret = names.contains(name.lowercased())
                new[name] = isSecret && member.isScalar ? .string(Self.placeholder) : redacted(member)
            }
            return .object(new)
        default: return value
        }
    }

    private func redacted(_ url: URL) -> String {
        let text = url.withoutFragment.absoluteString
        var (address, query) = (text, "")
        if let sign = text.firstIndex(of: "?") {
            address = String(text[..<sign])
            query = "?" + redacted(pairs: String(text[text.index(after: sign)...]))
        }
        return Self.withoutUser(address) + query
    }

    private static func withoutUser(_ address: String) -> String {
        guard let slashes = address.firstRange(of: "://") else { return address }
        let rest = address[slashes.upperBound...]
        let authority = rest.prefix { $0 != "/" }
        guard let sign = authority.lastIndex(of: "@") else { return address }
        return String(address[..<slashes.upperBound]) + rest[rest.index(after: sign)...]
    }

    private func redacted(pairs: String) -> String {
        pairs.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let sign = pair.firstIndex(of: "=") else { return String(pair) }
            let name = pair[..<sign]
            let isSecret = names.contains(name.percentDecoded.lowercased())
            return isSecret ? "\(name)=\(Self.placeholder)" : String(pair)
        }.joined(separator: "&")
    }
}

extension JSONValue {
    fileprivate var isScalar: Bool {
        switch self {
        case .array, .object, .null: false
        default: true
        }
    }
}
