// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
import Glibc
import ReachabilityCore
package import SessionCore

/// The proxy that a URL is asked for through, as libcurl finds it (libcurl-env(3), CURLOPT_PROXY(3)).
package struct ProxyChoice: Sendable, Equatable {
    /// The variable that names it; nil where a configuration does.
    package let variable: String?
    /// Its name or address, without brackets.
    package let host: String
    package let port: Int
    /// Whether it is spoken to by HTTP, with or without TLS; otherwise by SOCKS.
    package let speaksHTTP: Bool
    /// Why libcurl would refuse it, as the end of a sentence; nil where it would not.
    package let fault: String?
    /// User and password that stand before the name; nil where none do.
    package let credential: Credential?

    /// As it is written in sentences, `192.0.2.1:3128` or `[2001:db8::1]:3128`.
    package var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    package init(variable: String?, host: String, port: Int, speaksHTTP: Bool = true) {
        self.variable = variable
        self.host = host
        self.port = port
        self.speaksHTTP = speaksHTTP
        fault = nil
        credential = nil
    }

    /// How proxies are written, for advice.
    package static let spelling = "http://HOST:PORT, https://HOST:PORT or socks5h://HOST:PORT"
}

/// Which proxy a manager's requests go through: the configured one, or that of the environment at first.
struct ProxyRules {
    private let configured: String?
    private let environment: [String: String]
    /// Whether there can be a proxy: libcurl would look for one in the environment before each transfer.
    let mayApply: Bool

    init(configured: String?) {
        self.configured = configured
        environment = ProxyChoice.environment()
        mayApply = ProxyChoice.isPossible(configured: configured, environment: environment)
    }

    /// The proxy that a URL is asked for through; nil where its server is spoken to directly.
    func proxy(for url: URL) -> ProxyChoice? {
        mayApply ? ProxyChoice(for: url, configured: configured, environment: environment) : nil
    }

    /// The HTTP proxy that may answer in the server's place, as no TLS goes through it; nil for none.
    func forwardingProxy(for url: URL) -> ProxyChoice? {
        guard let proxy = proxy(for: url), proxy.speaksHTTP else { return nil }
        return Origin(url)?.isSecure == false ? proxy : nil
    }
}

extension ProxyChoice {
    /// Variables that name proxies; not `HTTP_PROXY`, which a web server makes of a header field.
    private static let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    /// Variables that name exceptions, in the order of their precedence.
    private static let exceptions = ["no_proxy", "NO_PROXY"]

    /// The variables of the process's environment that name proxies and exceptions.
    package static func environment() -> [String: String] {
        var found: [String: String] = [:]
        for name in names + exceptions {
            if let value = getenv(name) { found[name] = String(cString: value) }
        }
        return found
    }

    /// Whether there can be a proxy for any URL.
    static func isPossible(configured: String?, environment: [String: String]) -> Bool {
        if let configured { return !configured.isEmpty }
        return names.contains { environment[$0]?.isEmpty == false }
    }

    /// nil where the server is spoken to directly.
    ///
    /// - Parameters:
    ///   - configured: stands before the variables; empty for none at all.
    ///   - environment: as ``environment()`` gives it; a variable without a value says nothing.
    package init?(for url: URL, configured: String? = nil, environment: [String: String]) {
        let environment = environment.filter { !$0.value.isEmpty }
        let scheme = url.scheme?.lowercased() ?? ""
        // A socket of this machine.
        if scheme.hasSuffix("+unix") { return nil }
        let exceptions = Self.exceptions.lazy.compactMap { environment[$0] }.first ?? ""
        guard !Self.isExcepted(url.host() ?? "", exceptions) else { return nil }
        if let configured {
            guard !configured.isEmpty else { return nil }
            self.init(variable: nil, text: configured)
            return
        }
        let names = scheme == "https" ? ["https_proxy", "HTTPS_PROXY"] : ["\(scheme)_proxy"]
        for variable in names + ["all_proxy", "ALL_PROXY"] {
            guard let text = environment[variable] else { continue }
            self.init(variable: variable, text: text)
            return
        }
        return nil
    }

    /// The schemes that libcurl understands (CURLOPT_PROXY(3)).
    private static let schemes = ["http", "https", "socks", "socks4", "socks4a", "socks5", "socks5h"]

    /// - Parameter text: `[scheme://][user:password@]host[:port][/]`.
    private init(variable: String?, text: String) {
        self.variable = variable
        var rest = text[...]
        var scheme: Substring = "http"
        if let mark = rest.firstRange(of: "://") {
            scheme = rest[..<mark.lowerBound]
            rest = rest[mark.upperBound...]
        }
        let kind = scheme.lowercased()
        speaksHTTP = kind.hasPrefix("http")
        rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let at = rest.lastIndex(of: "@")
        credential = at.flatMap { Self.credential(rest[..<$0]) }
        if let at { rest = rest[rest.index(after: at)...] }
        let standard = kind == "https" ? 443 : 1080
        let digits: Substring
        // As libcurl parses them (lib/urlapi.c): an IPv6 address has brackets, and nothing but a port behind.
        var isBroken = false
        if rest.first == "[", let end = rest.firstIndex(of: "]") {
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            let tail = rest[rest.index(after: end)...]
            digits = tail.dropFirst()
            isBroken =
                tail.first.map { $0 != ":" } ?? false || IPAddress(String(host.prefix { $0 != "%" })) == nil
        } else if let colon = rest.lastIndex(of: ":") {
            host = String(rest[..<colon])
            digits = rest[rest.index(after: colon)...]
            isBroken = host.contains(where: { $0 == ":" || $0 == "[" || $0 == "]" })
        } else {
            host = String(rest)
            digits = ""
        }
        port = Int(digits) ?? standard
        fault =
            if !Self.schemes.contains(kind) {
                "\(TextQuote(String(scheme))) is no kind of proxy"
            } else if host.isEmpty || host.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) {
                "it names no host"
            } else if isBroken {
                "its address is malformed: an IPv6 address is written in brackets"
            } else if !digits.isEmpty, UInt16(digits) ?? 0 == 0 {
                "its port is impossible"
            } else {
                nil
            }
    }

    /// User and password as they are written in an address (RFC 3986 §3.2.1).
    private static func credential(_ text: Substring) -> Credential? {
        let url = URL(string: "http://\(text)@proxy", encodingInvalidCharacters: false)
        guard let url, let user = url.user(percentEncoded: false) else { return nil }
        return .password(user: user, password: url.password(percentEncoded: false) ?? "")
    }

    /// Whether `no_proxy` names the host: itself, its domain, a range of addresses, or everything.
    private static func isExcepted(_ host: String, _ list: String) -> Bool {
        let host = trimmed(host.lowercased()[...])
        let address = IPAddress(String(host))
        if list.split(separator: " ").joined() == "*" { return true }
        return list.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.contains { word in
            if let address {
                let word = word.hasPrefix("[") && word.hasSuffix("]") ? word.dropFirst().dropLast() : word
                return IPAddress(String(word)) == address || IPPrefix(String(word))?.contains(address) == true
            }
            let name = trimmed(word)
            return !name.isEmpty && (host == name || host.hasSuffix(".\(name)"))
        }
    }

    private static func trimmed(_ name: Substring) -> Substring {
        var name = name
        while name.first == "." { name = name.dropFirst() }
        if name.last == "." { name = name.dropLast() }
        return name
    }
}
