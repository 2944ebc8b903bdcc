// SPDX-License-Identifier: Apache-2.0

import CCurl
import FoundationEssentials
import ReachabilityCore

/// The addresses that libcurl does not look up (CURLOPT_RESOLVE(3)): those of the configuration, and those of
/// servers that have answered while the name servers may be behind a dead line.
struct FixedAddresses {
    private let configured: [String]
    /// Texts for libcurl, by host and port.
    private var known: [String: String] = [:]
    /// Counts the changes.
    private(set) var version = 0
    // Read by libcurl with each transfer, so they live as long.
    private var lists: [UnsafeMutablePointer<curl_slist>] = []
    private var current: (Bool, UnsafeMutablePointer<curl_slist>?)?

    init(_ configured: [String]) { self.configured = configured }

    /// The host of a URL, if it has to be looked up.
    func hostWithoutAddress(_ url: URL) -> String? {
        guard let host = url.host(), IPAddress(host) == nil, !host.hasPrefix("["),
            host.utf8.allSatisfy({ $0 < 0x80 }), let key = Self.key(url), known[key] == nil,
            !configured.contains(where: { $0.hasPrefix("\(key):") })
        else { return nil }
        return host
    }

    /// Adds the addresses of the server of a URL.
    mutating func add(_ addresses: [IPAddress], of url: URL) {
        guard let host = url.host(), IPAddress(host) == nil, !host.hasPrefix("["), let key = Self.key(url),
            !addresses.isEmpty
        else { return }
        let text = addresses.map { "\($0)" }.joined(separator: ",")
        guard known[key] != text else { return }
        known[key] = text
        version += 1
        current = nil
    }

    private static func key(_ url: URL) -> String? {
        guard let host = url.host() else { return nil }
        return "\(host):\(url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80))"
    }

    /// Forgets the servers that have answered.
    mutating func forgetKnown() {
        guard !known.isEmpty else { return }
        known = [:]
        version += 1
        current = nil
    }

    /// The list for libcurl; nil for none.
    ///
    /// - Parameter includesKnown: With the servers that have answered.
    mutating func list(includesKnown: Bool) -> UnsafeMutablePointer<curl_slist>? {
        if let current, current.0 == includesKnown { return current.1 }
        var entries = configured
        if includesKnown {
            for (server, address) in known where !configured.contains(where: { $0.hasPrefix("\(server):") }) {
                entries.append("\(server):\(address)")
            }
        }
        let list: UnsafeMutablePointer<curl_slist>? = entries.reduce(nil) { list, entry in
            entry.withCString { ccurl_list_append(list, $0) } ?? list
        }
        if let list { lists.append(list) }
        current = (includesKnown, list)
        return list
    }

    /// Frees the lists: after the handles that read them.
    mutating func close() {
        for list in lists { ccurl_list_free(list) }
        lists = []
        current = nil
    }
}
