// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachabilityCore

/// The proxy that the environment names for a URL, as libcurl reads it (curl(1), ENVIRONMENT).
struct ProxyChoice: Sendable, Equatable {
    /// The variable that names it.
    let variable: String
    /// Its name or address, without brackets.
    let host: String
    let port: Int
}

extension ProxyChoice {
    /// The variables that matter here.
    ///
    /// `HTTP_PROXY` is not among them: a web server makes it of a header field.
    static let variables = [
        "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
    ]

    /// nil where the server is spoken to directly.
    init?(for url: URL, environment: [String: String]) {
        let scheme = url.scheme?.lowercased() ?? ""
        let host = url.host() ?? ""
        let exceptions = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        guard !Self.isExcepted(host, exceptions) else { return nil }
        let names = scheme == "https" ? ["https_proxy", "HTTPS_PROXY"] : ["\(scheme)_proxy"]
        for variable in names + ["all_proxy", "ALL_PROXY"] {
            guard let text = environment[variable] else { continue }
            // Set and empty: none, whatever the more general ones say.
            guard !text.isEmpty else { return nil }
            self.init(variable: variable, text: text)
            return
        }
        return nil
    }

    /// - Parameter text: `[scheme://][user:password@]host[:port][/]`.
    private init(variable: String, text: String) {
        self.variable = variable
        var rest = text[...]
        var scheme: Substring = "http"
        if let mark = rest.firstRange(of: "://") {
            scheme = rest[..<mark.lowerBound]
            rest = rest[mark.upperBound...]
        }
        rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if let at = rest.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
        let standard = scheme.lowercased() == "https" ? 443 : 1080
        if rest.first == "[", let end = rest.firstIndex(of: "]") {
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            port = Int(rest[rest.index(after: end)...].dropFirst()) ?? standard
        } else if let colon = rest.lastIndex(of: ":") {
            host = String(rest[..<colon])
            port = Int(rest[rest.index(after: colon)...]) ?? standard
        } else {
            host = String(rest)
            port = standard
        }
    }

    /// Whether `no_proxy` names the host: itself, a domain that it is in, a range of addresses, or everything.
    private static func isExcepted(_ host: String, _ list: String) -> Bool {
        let host = trimmed(host.lowercased()[...])
        let address = IPAddress(String(host))
        if list.split(separator: " ").joined() == "*" { return true }
        return list.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.contains { word in
            if let address {
                let word = word.hasPrefix("[") && word.hasSuffix("]") ? word.dropFirst().dropLast() : word
                return IPAddress(String(word)) == address
                    || IPPrefix(String(word))?.contains(address) == true
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

/// What the way to a proxy came to.
enum ProxyObservation: Sendable, Equatable {
    /// It has no address.
    case name(NameObservation.Outcome)
    /// One connection that stands, or the first that does not.
    case connection(ConnectionObservation)
}
