// SPDX-License-Identifier: Apache-2.0

/// A name server as resolv.conf(5) and systemd write it: `192.0.2.1`, `fe80::1%eth0`, `[2001:db8::1]:5353`.
///
/// systemd appends the interface and the server's name: `192.0.2.1:5353%eth0#dns.example`
/// (resolved.conf(5), `DNS=`).
package struct NameServer: Sendable, Hashable, CustomStringConvertible {
    /// Where it is.
    package let address: IPAddress
    /// The UDP port; 53 unless the text has another (RFC 1035 §4.2).
    package let port: UInt16
    /// The link through which alone it is reached, by name or number; nil for any (RFC 4007 §11).
    private let zone: String?

    /// Reads the text; nil for anything else.
    package init?(_ text: some StringProtocol) {
        let parts = text.prefix { $0 != "#" }
            .split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        let end = parts[0]
        zone = parts.count > 1 ? String(parts[1]) : nil
        guard zone != "" else { return nil }
        if let address = IPAddress(String(end)) {
            (self.address, port) = (address, 53)
            return
        }
        let isBracketed = end.hasPrefix("[")
        guard let close = isBracketed ? end.firstIndex(of: "]") : end.firstIndex(of: ":"),
            let address = IPAddress(String(end[..<close].drop { $0 == "[" })),
            (address.family == .ipv6) == isBracketed
        else { return nil }
        let rest = isBracketed ? end[end.index(after: close)...] : end[close...]
        guard let port = rest.isEmpty ? 53 : UInt16(rest.dropFirst()), !rest.hasPrefix(":+"),
            rest.isEmpty || rest.first == ":", port > 0
        else { return nil }
        (self.address, self.port) = (address, port)
    }

    /// Whether it may be asked over a link: its zone is this one, or none.
    package func isReached(over name: String, _ index: Int32) -> Bool {
        zone.map { $0 == name || $0 == "\(index)" } ?? true
    }

    /// The address, and the port where it is not 53; without the zone.
    package var description: String {
        if port == 53 { return address.description }
        return address.family == .ipv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}
