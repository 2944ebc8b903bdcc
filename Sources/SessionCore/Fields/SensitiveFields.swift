// SPDX-License-Identifier: Apache-2.0

public import HTTPTypes

/// The header fields whose values are secrets: not printed, and not sent on to another origin.
///
/// A request adds its own with ``RequestOptions/sensitiveFields``.
public struct SensitiveFields: Sendable, Equatable, Codable {
    private var names: Set<String>

    /// The usual ones and `others`, in any case.
    ///
    /// The usual ones are `Authorization`, `Proxy-Authorization`, `Cookie`, `Set-Cookie`, `X-Api-Key`,
    /// `Api-Key`, `X-Auth-Token`, `X-Access-Token`, `X-CSRF-Token`, `X-XSRF-Token` and
    /// `X-Amz-Security-Token`.
    public init(adding others: [String] = []) {
        names = Self.usual.union(others.map { $0.lowercased() })
    }

    /// Whether a field is one of them or one that the request names itself.
    func contains(_ name: HTTPField.Name, of request: SessionRequest) -> Bool {
        contains(name) || request.options.sensitiveFields.contains(name)
    }

    /// Whether a field is one of them.
    public func contains(_ name: HTTPField.Name) -> Bool { names.contains(name.canonicalName) }

    /// Whether a field is one of them.
    public func contains(_ name: String) -> Bool { names.contains(name.lowercased()) }

    private static let usual: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key",
        "x-auth-token", "x-access-token", "x-csrf-token", "x-xsrf-token", "x-amz-security-token",
    ]
}
