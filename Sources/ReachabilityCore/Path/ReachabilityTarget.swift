// SPDX-License-Identifier: Apache-2.0

/// The destination of an evaluation.
package enum ReachabilityTarget: Sendable, Equatable {
    /// Any destination: represented by addresses that are looked up and never contacted.
    case general(sentinels: [IPAddress])
    /// One host, with its addresses in the order of preference.
    case host([ReachabilityDestination])
}

/// One address of a monitored host.
package struct ReachabilityDestination: Sendable, Equatable {
    package var address: IPAddress
    /// The interface name after `%`, for an address that differs by link (RFC 4007 §11).
    package var zone: String?

    package init(_ address: IPAddress, zone: String? = nil) {
        self.address = address.connected
        self.zone = zone
    }

    /// Reads `address` or `address%zone`, also in brackets; nil for anything else, and for a zone on an
    /// address without one.
    package init?(_ given: String) {
        var text = given[...]
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        if isBracketed { text = text.dropFirst().dropLast() }
        var parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        guard parts.count == 2 else {
            self.init(address)
            return
        }
        // In a URL the percent sign is encoded (RFC 6874 §2).
        if isBracketed, parts[1].hasPrefix("25"), parts[1] != "25" { parts[1] = parts[1].dropFirst(2) }
        // IFNAMSIZ (linux/if.h) leaves 15 bytes for a name.
        guard address.staysOnLink, address.family == .ipv6, (1...15).contains(parts[1].utf8.count) else {
            return nil
        }
        self.init(address, zone: String(parts[1]))
    }

    /// `address` or `address%zone`.
    package var text: String { zone.map { "\(address)%\($0)" } ?? address.description }
}
