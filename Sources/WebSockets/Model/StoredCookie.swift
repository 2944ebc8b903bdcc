// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
import SessionCore

/// Where a request goes, for cookies.
package struct CookieTarget: Sendable, Equatable {
    let host: String
    let path: String
    let isSecure: Bool

    package init?(_ url: URL) {
        guard let origin = Origin(url) else { return nil }
        host = origin.host
        let path = url.path(percentEncoded: true)
        self.path = path.isEmpty ? "/" : path
        isSecure = origin.isSecure
    }

    /// What the field `Cookie` says of these cookies (RFC 6265 §5.4); nil where none is for here.
    package func field(_ cookies: [StoredCookie], at seconds: Int64) -> String? {
        // Longer paths first.
        let sent = cookies.filter { $0.isSent(to: self, at: seconds) }
            .sorted { $0.path.utf8.count > $1.path.utf8.count }
        return sent.isEmpty ? nil : sent.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }
}

/// A cookie as libcurl keeps it: a line of the format that Netscape's browser had.
package struct StoredCookie: Sendable, Equatable {
    let domain: String
    /// Whether hosts below the domain get it.
    let includesSubdomains: Bool
    let path: String
    let isSecure: Bool
    let isForScriptsToo: Bool
    /// Seconds since 1970; 0 for the end of the session.
    let expires: Int64
    let name: String
    let value: String

    /// A line of libcurl's.
    package init?(line: String) {
        var line = line
        isForScriptsToo = !line.hasPrefix("#HttpOnly_")
        if !isForScriptsToo { line.removeFirst("#HttpOnly_".count) }
        let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 7, let expires = Int64(parts[4]) else { return nil }
        let domain = parts[0].hasPrefix(".") ? String(parts[0].dropFirst()) : parts[0]
        self.domain = domain.lowercased()
        includesSubdomains = parts[1] == "TRUE"
        path = parts[2]
        isSecure = parts[3] == "TRUE"
        self.expires = expires
        name = parts[5]
        value = parts[6]
    }

    /// What a field `Set-Cookie` sets (RFC 6265 §5.2, §5.3); nil where it is none, or not for here.
    ///
    /// It is for this host alone, whatever its `Domain` says: which domains are public is not known here
    /// (RFC 6265 §5.3 item 5).
    package init?(field: String, of target: CookieTarget, at seconds: Int64) {
        let parts = field.split(separator: ";", omittingEmptySubsequences: false).map { $0.trimmingBlanks }
        guard let pair = parts.first, let equals = pair.firstIndex(of: "="), equals > pair.startIndex,
            !field.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { return nil }
        name = String(pair[..<equals].trimmingBlanks)
        value = String(pair[pair.index(after: equals)...].trimmingBlanks)
        var (path, isSecure, isHidden, expires): (String?, Bool, Bool, Int64) = (nil, false, false, 0)
        var hasAge = false
        for part in parts.dropFirst() {
            let halves = part.split(separator: "=", maxSplits: 1).map { $0.trimmingBlanks }
            let text = halves.count > 1 ? String(halves[1]) : ""
            switch halves.first?.lowercased() {
            case "path": path = text.hasPrefix("/") ? text : nil
            case "secure": isSecure = true
            case "httponly": isHidden = true
            case "domain":
                let domain = text.hasPrefix(".") ? String(text.dropFirst()) : text
                // An empty one counts as none (RFC 6265 §5.2.3).
                guard !domain.isEmpty else { continue }
                guard target.host == domain.lowercased() || target.host.hasSuffix(".\(domain.lowercased())")
                else {
                    return nil
                }
            case "max-age":
                guard let age = Int64(text) else { continue }
                hasAge = true
                // The past removes a cookie of this name.
                expires = age <= 0 ? 1 : seconds &+ min(age, 400 * 86_400)
            case "expires" where !hasAge:
                if let date = HTTPDate(text, now: HTTPDate(seconds: seconds)) {
                    expires = max(1, date.seconds)
                }
            default: break
            }
        }
        guard !isSecure || target.isSecure else { return nil }
        domain = target.host
        includesSubdomains = false
        self.path = path ?? Self.directory(of: target.path)
        self.isSecure = isSecure
        isForScriptsToo = !isHidden
        self.expires = expires
    }

    /// As libcurl takes it.
    package var line: String {
        [
            (isForScriptsToo ? "" : "#HttpOnly_") + domain, includesSubdomains ? "TRUE" : "FALSE", path,
            isSecure ? "TRUE" : "FALSE", String(expires), name, value,
        ].joined(separator: "\t")
    }

    /// The path of a cookie that names none (RFC 6265 §5.1.4).
    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Whether a request gets it (RFC 6265 §5.1.3, §5.1.4).
    func isSent(to target: CookieTarget, at seconds: Int64) -> Bool {
        guard !isSecure || target.isSecure, expires == 0 || expires > seconds else { return false }
        guard domain == target.host || includesSubdomains && target.host.hasSuffix(".\(domain)") else {
            return false
        }
        return Self.covers(path, target.path)
    }

    /// Whether it would replace or hide a `Secure` cookie of its name, which a server without TLS may not
    /// (RFC 6265bis §5.7).
    package func isOverlaying(_ stored: [StoredCookie], at seconds: Int64) -> Bool {
        stored.contains { other in
            other.isSecure && other.name == name && (other.expires == 0 || other.expires > seconds)
                && (domain == other.domain || domain.hasSuffix(".\(other.domain)")
                    || other.domain.hasSuffix(".\(domain)"))
                && Self.covers(other.path, path)
        }
    }

    /// Whether a path is that of a cookie or below it (RFC 6265 §5.1.4).
    private static func covers(_ path: String, _ other: String) -> Bool {
        other == path || path.hasSuffix("/") && other.hasPrefix(path) || other.hasPrefix("\(path)/")
    }
}
