// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes

/// Writes requests as a command line of curl(1), to be tried in a shell or sent to the server's operator.
///
/// Secrets are replaced by `***` unless asked for: sensitive header fields, cookies, user and password in the
/// URL, and query parameters such as `token` and `api_key`. Bodies are shown as they are: look at them first.
public struct CurlCommand: Sendable {
    /// Whether secrets are shown; false.
    public var showsSecrets = false
    /// The header fields that are secrets, beside ``RequestOptions/sensitiveFields``.
    public var sensitiveFields = SensitiveFields()
    /// The query parameters that are secrets, in lower case.
    public var sensitiveParameters: Set<String> = [
        "token", "access_token", "refresh_token", "id_token", "api_key", "apikey", "key", "password",
        "passwd", "secret", "client_secret", "signature", "sig", "code", "x-amz-signature",
        "x-amz-security-token", "x-amz-credential",
    ]
    /// The longest body in bytes that is shown; 1024.
    public var longestBody = 1024

    /// The usual description: no secrets, short bodies.
    public init() {}

    /// The command; several lines, with a backslash at the end of all but the last.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - cookies: what the session would add as `Cookie`; nil for nothing.
    public func text(_ request: SessionRequest, cookies: String? = nil) -> String {
        var words = ["curl"]
        words += methodWords(request)
        switch request.codingOffer {
        case .known: words.append("--compressed")
        case .identity: words.append("-H 'Accept-Encoding: identity'")
        case nil: break
        }
        if let interface = request.options.interface { words.append("--interface \(quoted(interface))") }
        for field in request.headerFields {
            let isSecret = sensitiveFields.contains(field.name, of: request)
            words.append("-H \(quoted(header(field.name.rawName, field.value, isSecret: isSecret)))")
        }
        if let cookies, request.headerFields[.cookie] == nil { words.append("-b \(quoted(shown(cookies)))") }
        words += bodyWords(request)
        var url = address(request.url)
        if let parts = SocketURL(url) {
            url = parts.address()
            if let socket = try? UnixSocket(parts.socket) {
                words.append("--\(socket.isAbstract ? "abstract-" : "")unix-socket \(quoted(socket.path))")
            }
        }
        // Brackets and braces would be patterns to curl.
        if url.utf8.contains(where: { "[]{}".utf8.contains($0) }) { words.append("--globoff") }
        words.append(quoted(url))
        return words.joined(separator: " \\\n    ")
    }

    private func methodWords(_ request: SessionRequest) -> [String] {
        switch request.method {
        case .head where request.body == nil: ["--head"]
        case .get where request.body == nil: []
        default: ["-X \(quoted(request.method.rawValue))"]
        }
    }

    private func header(_ name: String, _ value: String, isSecret: Bool) -> String {
        guard isSecret, !showsSecrets else {
            // With nothing behind the colon curl would leave the field out.
            return value.isEmpty ? "\(name);" : "\(name): \(value)"
        }
        let scheme = value.prefix { $0 != " " }
        let isCredential = name.lowercased().hasSuffix("authorization") && scheme.count < value.count
        return isCredential ? "\(name): \(scheme) ***" : "\(name): ***"
    }

    private func bodyWords(_ request: SessionRequest) -> [String] {
        guard let body = request.body else { return [] }
        // Without a type curl would call it a form.
        let type = request.headerFields[.contentType] == nil ? ["-H 'Content-Type:'"] : []
        switch body {
        case .data(let data):
            guard data.count <= longestBody, let word = ShellWord(data) else {
                return type + ["--data-binary @body-of-\(data.count)-bytes"]
            }
            return type + ["--data-raw \(word)"]
        case .file(let path): return type + ["--data-binary \(quoted("@\(path)"))"]
        case .stream(let source):
            return type + ["--data-binary @body-of-\(source.length.map { "\($0)" } ?? "unknown")-bytes"]
        }
    }

    private func address(_ url: URL) -> String {
        guard !showsSecrets, var reference = URIReference(url.absoluteString) else {
            return url.absoluteString
        }
        if let user = url.user(percentEncoded: true) {
            reference.setUserInfo(url.password(percentEncoded: true) == nil ? "***" : "\(user):***")
        }
        reference.mapQuery { query in
            query.split(separator: "&", omittingEmptySubsequences: false).map { pair in
                let name = pair.prefix { $0 != "=" }
                guard name.count < pair.count, sensitiveParameters.contains(name.lowercased()) else {
                    return String(pair)
                }
                return "\(name)=***"
            }.joined(separator: "&")
        }
        return reference.text
    }

    private func shown(_ cookies: String) -> String {
        guard !showsSecrets else { return cookies }
        return cookies.split(separator: ";").map { cookie in
            "\(cookie.prefix { $0 != "=" }.trimmingBlanks)=***"
        }.joined(separator: "; ")
    }

    private func quoted(_ text: String) -> String { ShellWord(text.utf8)?.description ?? "''" }
}

extension SessionRequest {
    /// The request as a command line of curl(1), without secrets; see ``CurlCommand`` for more.
    public var curlDescription: String { CurlCommand().text(self) }
}

/// A word of a shell's command line that means exactly these bytes, and is harmless to a terminal.
package struct ShellWord: CustomStringConvertible {
    package let description: String

    /// Quotes bytes; nil where they have a NUL, which no argument can hold.
    ///
    /// UTF-8 text stands in single quotes (POSIX sh), other bytes in `$'…'` (POSIX.1-2024, bash, zsh, ksh).
    package init?(_ bytes: some Collection<UInt8>) {
        guard !bytes.contains(0) else { return nil }
        if let text = String(validating: bytes, as: UTF8.self),
            text.unicodeScalars.allSatisfy(Self.isHarmless)
        {
            let isPlain =
                !bytes.isEmpty
                && bytes.allSatisfy { $0.isASCIIAlphanumeric || "-._/:=@%+,".utf8.contains($0) }
            description = isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
            return
        }
        var quoted = "$'"
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n"): quoted += "\\n"
            case UInt8(ascii: "\r"): quoted += "\\r"
            case UInt8(ascii: "\t"): quoted += "\\t"
            case UInt8(ascii: "'"), UInt8(ascii: "\\"): quoted += "\\" + String(UnicodeScalar(byte))
            case 0x20...0x7E: quoted += String(UnicodeScalar(byte))
            // Three octal digits: a hexadecimal escape would take in the digits that follow.
            default:
                let digits = String(byte, radix: 8)
                quoted += "\\" + String(repeating: "0", count: 3 - digits.utf8.count) + digits
            }
        }
        description = quoted + "'"
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate:
            false
        default: true
        }
    }
}
