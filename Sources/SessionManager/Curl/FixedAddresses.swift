// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachabilityCore

/// The addresses that libcurl does not look up (CURLOPT_RESOLVE(3)): those of the configuration, and those
/// that were found while the name servers may be behind a dead line, apart for each uplink.
struct FixedAddresses {
    private struct Known {
        /// The uplink whose name servers have told it; empty for what holds over each.
        let uplink: String
        /// Host and port.
        let server: String
        /// For libcurl; empty where no name server has answered.
        var text: String
        /// When it was asked for last.
        var time: Int64
    }

    /// How long the addresses that an uplink's name servers have told are used: 60 s.
    static let lifetime: Int64 = 60_000_000_000
    /// How long name servers that have not answered are not asked again: 5 s.
    private static let silence: Int64 = 5_000_000_000
    /// How many addresses are kept.
    private static let capacity = 256

    private let configured: [String]
    private var known: [Known] = []
    /// Counts the changes.
    private(set) var version = 0

    init(_ configured: [String]) { self.configured = configured }

    var isEmpty: Bool { configured.isEmpty && known.isEmpty }

    /// The host of a URL, if it has to be looked up.
    ///
    /// - Parameters:
    ///   - uplink: The uplink that carries the request; empty where the kernel chooses.
    ///   - now: Addresses that are older than ``lifetime`` then count as none; nil for any age.
    func hostWithoutAddress(_ url: URL, over uplink: String, at now: Int64?) -> String? {
        guard let host = url.host(), IPAddress(host) == nil, !host.hasPrefix("["),
            host.utf8.allSatisfy({ $0 < 0x80 }), let server = Self.server(url),
            !configured.contains(where: { $0.hasPrefix("\(server):") })
        else { return nil }
        guard let known = known.first(where: { $0.uplink == uplink && $0.server == server }) else {
            return host
        }
        guard let now, !uplink.isEmpty else { return known.text.isEmpty ? host : nil }
        return now &- known.time < (known.text.isEmpty ? Self.silence : Self.lifetime) ? nil : host
    }

    /// Records what name servers have told of the server of a URL; without an address the last ones stay.
    ///
    /// - Parameter uplink: The uplink that they were asked over; empty for what holds over each.
    mutating func add(_ addresses: [IPAddress], of url: URL, over uplink: String, at now: Int64) {
        guard let host = url.host(), IPAddress(host) == nil, !host.hasPrefix("["),
            let server = Self.server(url), !addresses.isEmpty || !uplink.isEmpty
        else { return }
        let text = addresses.map(\.description).joined(separator: ",")
        if let index = known.firstIndex(where: { $0.uplink == uplink && $0.server == server }) {
            known[index].time = now
            // Name servers change the order with each answer.
            guard !text.isEmpty,
                Set(known[index].text.split(separator: ",")) != Set(text.split(separator: ","))
            else { return }
            known[index].text = text
        } else {
            if known.count >= Self.capacity { known.removeFirst() }
            known.append(Known(uplink: uplink, server: server, text: text, time: now))
            if text.isEmpty { return }
        }
        version += 1
    }

    private static func server(_ url: URL) -> String? {
        guard let host = url.host() else { return nil }
        return "\(host):\(url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80))"
    }

    /// Forgets what holds over each uplink.
    mutating func forgetKnown() {
        guard known.contains(where: \.uplink.isEmpty) else { return }
        known.removeAll(where: \.uplink.isEmpty)
        version += 1
    }

    /// The entries for libcurl.
    ///
    /// - Parameter uplink: The uplink whose addresses are among them, and where it has none those that hold
    ///   over each; nil for those of the configuration alone.
    func entries(over uplink: String?) -> [String] {
        guard let uplink else { return configured }
        let usable = known.filter { !$0.text.isEmpty && ($0.uplink == uplink || $0.uplink.isEmpty) }
        return configured
            + usable.filter { item in
                !configured.contains { $0.hasPrefix("\(item.server):") }
                    && (item.uplink == uplink
                        || !usable.contains { $0.uplink == uplink && $0.server == item.server })
            }.map { "\($0.server):\($0.text)" }
    }
}
