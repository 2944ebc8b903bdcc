// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// The cookies of a session that a test answers (RFC 6265 §5), which are libcurl's otherwise.
struct AnsweredCookies {
    private struct Cookie {
        var name: String
        var value: String
        var domain: String
        /// Whether the domain's hosts below it get it too.
        var isForDomain: Bool
        var path: String
        var isSecure: Bool
    }

    private var cookies: [Cookie] = []

    /// The value of `Cookie` for a URL; nil for none.
    func field(for url: URL) -> String? {
        let (host, path, isSecure) = Self.parts(url)
        let fitting = cookies.filter { cookie in
            (cookie.domain == host || cookie.isForDomain && host.hasSuffix("." + cookie.domain))
                && Self.covers(cookie.path, path) && (isSecure || !cookie.isSecure)
        }
        // Longer paths first (RFC 6265 §5.4); the order is kept among equal ones.
        let sorted = fitting.enumerated().sorted {
            ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset)
        }
        return sorted.isEmpty
            ? nil : sorted.map { "\($0.element.name)=\($0.element.value)" }.joined(separator: "; ")
    }

    /// Stores, replaces or removes a cookie as a `Set-Cookie` says.
    mutating func store(_ line: String, from url: URL) {
        let (host, requestPath, isSecure) = Self.parts(url)
        let parts = line.split(separator: ";", omittingEmptySubsequences: false).map { $0.trimmingSpaces }
        guard let sign = parts[0].firstIndex(of: "="), sign != parts[0].startIndex else { return }
        var cookie = Cookie(
            name: parts[0][..<sign].trimmingSpaces,
            value: parts[0][parts[0].index(after: sign)...].trimmingSpaces,
            domain: host, isForDomain: false, path: Self.directory(requestPath), isSecure: false)
        var isRemoved = false
        for attribute in parts.dropFirst() {
            let words = attribute.split(separator: "=", maxSplits: 1).map { $0.trimmingSpaces }
            let value = words.count > 1 ? words[1] : ""
            switch words.first?.lowercased() {
            case "domain":
                let domain = (value.hasPrefix(".") ? String(value.dropFirst()) : value).lowercased()
                guard host == domain || host.hasSuffix("." + domain), domain.contains(".") else { return }
                (cookie.domain, cookie.isForDomain) = (domain, true)
            case "path" where value.hasPrefix("/"): cookie.path = value
            case "secure":
                guard isSecure else { return }
                cookie.isSecure = true
            case "max-age": isRemoved = (Int(value) ?? 1) <= 0
            case "expires":
                let now = HTTPDate(Date())
                isRemoved = HTTPDate(value, now: now).map { $0 <= now } ?? false
            default: break
            }
        }
        cookies.removeAll {
            $0.name == cookie.name && $0.domain == cookie.domain && $0.path == cookie.path
        }
        if !isRemoved { cookies.append(cookie) }
    }

    private static func parts(_ url: URL) -> (host: String, path: String, isSecure: Bool) {
        let path = url.path(percentEncoded: true)
        return (
            url.host()?.lowercased() ?? "", path.isEmpty ? "/" : path, url.scheme?.lowercased() == "https"
        )
    }

    /// The default path (RFC 6265 §5.1.4).
    private static func directory(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    private static func covers(_ cookie: String, _ path: String) -> Bool {
        path == cookie || path.hasPrefix(cookie.hasSuffix("/") ? cookie : cookie + "/")
    }
}

extension StringProtocol {
    fileprivate var trimmingSpaces: String {
        let start = drop { $0 == " " || $0 == "\t" }
        guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return String(start[...last])
    }
}
