// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// The proof that answers a challenge; its description shows no secret.
public enum Credential: Sendable, Equatable {
    /// A user and a password.
    case password(user: String, password: String)
    /// A token.
    case bearer(String)
    /// The certificate and key of the client.
    case identity(ClientIdentity)
    /// The server's certificates are accepted, whatever a security policy says.
    case serverTrust

    /// Whether it can answer a challenge of this kind.
    public func fits(_ method: AuthenticationMethod) -> Bool {
        switch (self, method) {
        case (.password, .basic), (.password, .digest), (.password, .ntlm), (.password, .negotiate),
            (.bearer, .bearer), (.identity, .clientCertificate), (.serverTrust, .serverTrust):
            true
        default: false
        }
    }

    /// The value of `Authorization` or `Proxy-Authorization`, for schemes that need no word of the server.
    ///
    /// Nil for the others, for a user with a colon or control characters (RFC 7617 §2), and for no token.
    public func authorization(for method: AuthenticationMethod) -> String? {
        switch (self, method) {
        case (.password(let user, let password), .basic):
            guard !user.utf8.contains(UInt8(ascii: ":")),
                (user + password).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
            else { return nil }
            return "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
        case (.bearer(let token), .bearer):
            guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
            return "Bearer \(token)"
        default: return nil
        }
    }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What kind it is, and whose.
    public var description: String {
        switch self {
        case .password(let user, _): "password of \(TextQuote(user))"
        case .bearer: "bearer token"
        case .identity(let identity): "identity (\(identity))"
        case .serverTrust: "trust in the server"
        }
    }
    /// The same as ``description``: secrets stay out of logs and debuggers' dumps.
    public var debugDescription: String { description }
    /// Nothing: `dump` would print the secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
