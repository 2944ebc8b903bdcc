// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
import HTTPTypes

/// A stored response without its content, and what shows whether it fits a request.
public struct CacheEntry: Sendable, Equatable {
    /// What it is stored under: the URL without fragment, user and password, and the request's `Host` where
    /// that names another server.
    public let key: String
    /// The stored response, without fields of the connection, cookies, and its URL's user and password.
    public let response: SessionResponse
    /// When the request was sent, by the wall clock, in whole seconds.
    public let requestDate: Date
    /// When the response came.
    public let responseDate: Date
    /// The request's values of the fields that `Vary` names, by name in lower case; nil where it had none.
    let variants: [String: String?]
    /// Tells the credentials of the request from others without being them; nil where it had none.
    let authorization: CredentialMark?
    /// Whether the content was decoded before it was stored.
    let isDecoded: Bool
    /// The length of the stored content in bytes.
    public let contentLength: Int64

}

extension CacheEntry {
    /// An entry for the response to a request; whether it may be stored is not asked here.
    package init(
        request: SessionRequest, response: SessionResponse, requestDate: Date, responseDate: Date,
        contentLength: Int64
    ) {
        self.init(
            key: Self.key(for: request), response: Self.storable(response),
            requestDate: HTTPDate(requestDate).date, responseDate: HTTPDate(responseDate).date,
            variants: Self.variants(request, response),
            authorization: Self.credentials(request, Self.variantNames(response) ?? [])
                .map(CredentialMark.init(of:)),
            isDecoded: request.options.decompressesContent, contentLength: contentLength)
    }

    /// What the response to a request is stored under.
    package static func key(for request: SessionRequest) -> String { key(for: request.url, as: request) }

    /// What the response to a URL is stored under, where it is asked for with the `Host` of a request: the
    /// server that is meant belongs to what is asked for (RFC 9110 §7.1, RFC 9111 §2).
    ///
    /// Beside the URL, not in its place: another server may answer to that name itself.
    static func key(for url: URL, as request: SessionRequest) -> String {
        let key = key(for: url)
        guard let host = value("host", request)?.lowercased(), !host.isEmpty else { return key }
        let own = Origin(request.url).map { "\($0)".dropFirst($0.scheme.utf8.count + 3) }
        return own == host[...] ? key : "\(key) \(host)"
    }

    /// What the response to a URL is stored under that is asked for without a `Host` of the caller's.
    public static func key(for url: URL) -> String {
        guard let origin = Origin(url), let reference = URIReference(url.absoluteString) else {
            return url.absoluteString
        }
        let path = reference.path.isEmpty ? "/" : reference.path
        return "\(origin)\(path)\(reference.query.map { "?\($0)" } ?? "")"
    }

    /// Whether the request has the values of fields that selected the stored response (RFC 9111 §4.1).
    package func matches(_ request: SessionRequest) -> Bool {
        key == Self.key(for: request) && isDecoded == request.options.decompressesContent
            && variants.allSatisfy { Self.value($0.key, request) == $0.value }
    }

    /// Whether the request has the same credentials; false if the response varies by cookies, added later.
    package func hasSameAuthorization(as request: SessionRequest) -> Bool {
        let names = Self.variantNames(response) ?? []
        guard !names.contains("cookie") else { return false }
        let credentials = Self.credentials(request, names)
        guard let authorization, let credentials else { return authorization == nil && credentials == nil }
        return authorization.isOf(credentials)
    }

    /// The names in `Vary`, in lower case; nil for `*`, which fits nothing.
    static func variantNames(_ response: SessionResponse) -> [String]? {
        var names: [String] = []
        for value in response.values(forHeader: "vary") {
            for name in value.split(separator: ",") {
                let name = name.trimmingBlanks.lowercased()
                if name == "*" { return nil }
                if !name.isEmpty { names.append(name) }
            }
        }
        return names
    }

    private static func variants(_ request: SessionRequest, _ response: SessionResponse) -> [String: String?]
    {
        var variants: [String: String?] = [:]
        for name in variantNames(response) ?? [] where !secrets.contains(name) {
            variants.updateValue(value(name, request), forKey: name)
        }
        return variants
    }

    private static func value(_ name: String, _ request: SessionRequest) -> String? {
        let values = request.headerFields.filter { $0.name.canonicalName == name }
            .map { String($0.value.trimmingBlanks) }
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// What authenticates the request, and secrets that the response varies by; nil for none.
    private static func credentials(_ request: SessionRequest, _ names: [String]) -> String? {
        let names = Set(names).filter(secrets.contains).union(["authorization"])
        var texts = names.sorted().compactMap { name in value(name, request).map { "\(name): \($0)" } }
        if let user = request.url.user(percentEncoded: true) {
            texts.append("//\(user):\(request.url.password(percentEncoded: true) ?? "")")
        }
        return texts.isEmpty ? nil : texts.joined(separator: "\n")
    }

    /// Without fields of the connection (RFC 9111 §3.1), cookies, and the user and password of the URL.
    private static func storable(_ response: SessionResponse) -> SessionResponse {
        var fields = response.headerFields
        let named = fields.filter { $0.name.canonicalName == "connection" }
            .flatMap { $0.value.split(separator: ",").map { $0.trimmingBlanks.lowercased() } }
        let dropped = Self.unstored.union(named)
        fields.removeAll { dropped.contains($0.name.canonicalName) }
        return SessionResponse(
            url: response.url.withoutUser, statusCode: response.statusCode, version: response.version,
            headerFields: fields)
    }

    private static let secrets = SensitiveFields()

    private static let unstored: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authentication-info",
        "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade", "set-cookie",
    ]
}
