// SPDX-License-Identifier: Apache-2.0

/// One way to authenticate that a server or proxy offers (RFC 9110 §11.3).
public struct HTTPChallenge: Sendable, Equatable {
    /// The scheme in lower case: `basic`, `digest`, `bearer`, `negotiate`, ….
    public let scheme: String
    /// The data of schemes which have one piece of it instead of parameters, such as Negotiate and NTLM.
    public let token68: String?
    /// The parameters by their names in lower case; of several with one name the first.
    public let parameters: [String: String]

    /// A challenge.
    public init(scheme: String, token68: String? = nil, parameters: [String: String] = [:]) {
        self.scheme = scheme.lowercased()
        self.token68 = token68
        self.parameters = parameters
    }

    /// Reads the values of `WWW-Authenticate` or `Proxy-Authenticate` (RFC 9110 §11.6.1, §11.7.1), in order.
    ///
    /// Invalid challenges are left out, and those beyond 32, as are parameters of one beyond 64.
    public static func parse(_ values: [String]) -> [HTTPChallenge] {
        var challenges: [HTTPChallenge] = []
        for value in values {
            var scanner = FieldScanner(value)
            while challenges.count < 32 {
                scanner.skipBlanksAndCommas()
                if scanner.isAtEnd { break }
                if let challenge = HTTPChallenge(&scanner) {
                    challenges.append(challenge)
                } else {
                    scanner.skipToComma()
                }
            }
        }
        return challenges
    }

    /// Reads one challenge; nil where what stands there is none.
    private init?(_ scanner: inout FieldScanner) {
        guard let name = scanner.token() else { return nil }
        let isSeparated = scanner.skipBlanks()
        guard isSeparated || scanner.isAtEnd || scanner.next == UInt8(ascii: ",") else { return nil }
        let start = scanner.position
        if let token = scanner.token68() {
            scanner.skipBlanks()
            if scanner.isAtEnd || scanner.next == UInt8(ascii: ",") {
                self.init(scheme: name, token68: token)
                return
            }
            scanner.position = start
        }
        self.init(scheme: name, parameters: Self.parameters(&scanner))
    }

    /// Reads `name=value, …` up to the name of the next scheme, which no equals sign follows.
    private static func parameters(_ scanner: inout FieldScanner) -> [String: String] {
        var parameters: [String: String] = [:]
        while true {
            scanner.skipBlanksAndCommas()
            let start = scanner.position
            guard let name = scanner.token() else {
                if scanner.isAtEnd { return parameters }
                scanner.skipToComma()
                continue
            }
            scanner.skipBlanks()
            guard scanner.skip(UInt8(ascii: "=")) else {
                scanner.position = start
                return parameters
            }
            scanner.skipBlanks()
            guard let value = scanner.tokenOrQuotedString() else {
                scanner.skipToComma()
                continue
            }
            if parameters.count < 64, parameters[name.lowercased()] == nil {
                parameters[name.lowercased()] = value
            }
        }
    }
}
