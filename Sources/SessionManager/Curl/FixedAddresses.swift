// SPDX-License-Identifier: Apache-2.0

import CCurl
import FoundationEssentials
import ReachabilityCore

/// The addresses that libcurl does not look up (CURLOPT_RESOLVE(3)): those of the configuration, and those of
/// servers that have answered while the name servers may be behind a dead line.
struct FixedAddresses {
    private let configured: [String]
    /// By host and port.
    private var known: [String: String] = [:]
    /// Counts the changes.
    private(set) var version = 0
    // Read by libcurl with each transfer, so they live as long.
    private var lists: [UnsafeMutablePointer<curl_slist>] = []
    private var current: (Bool, UnsafeMutablePointer<curl_slist>?)?

    init(_ configured: [String]) { self.configured = configured }

    /// Adds the address at which the server of a URL has answered.
    mutating func add(_ address: IPAddress, of url: URL) {
        guard let host = url.host(), IPAddress(host) == nil, !host.hasPrefix("[") else { return }
        let port = url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
        let key = "\(host):\(port)"
        guard known[key] != "\(address)" else { return }
        known[key] = "\(address)"
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
