// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// The host of a URL in the form that certificates name it.
package struct TrustHost: Sendable, Equatable {
    /// A DNS name without the dot at its end, or an address without brackets and zone.
    package let text: String
    package let isAddress: Bool

    package init(_ host: String) {
        var text = Substring(host)
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        if text.contains(":") {
            // A zone (RFC 4007 §11) says which link, not which host.
            self.text = String(text.prefix { $0 != "%" })
            isAddress = true
            return
        }
        if text.hasSuffix("."), text.count > 1 { text = text.dropLast() }
        self.text = text.lowercased()
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        isAddress = parts.count == 4 && parts.allSatisfy { UInt8($0) != nil && !$0.hasPrefix("+") }
    }

    /// Whether libcurl may take it for an address, in a spelling of inet_aton(3) too: `127.1`, `0x7f000001`.
    private var mayBeAddress: Bool {
        let last = text.split(separator: ".").last ?? ""
        return isAddress || last.hasPrefix("0x") || last.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// The host of a proxy's URL; nil for a text that is none.
    package init?(proxy text: String) {
        guard let host = URL(string: text)?.host(), !host.isEmpty else { return nil }
        self.init(host)
    }

    /// Which host a handshake is with: the name that was sent to it (SNI) says so, and addresses send none.
    ///
    /// A proxy that speaks TLS has handshakes under the same settings, for its own certificate.
    package static func ofHandshake(sentName: String?, host: TrustHost, proxy: TrustHost?) -> Handshake {
        let peer = sentName.map { TrustHost($0) }
        guard let proxy, proxy != host else { return .server(peer ?? host) }
        let isProxy = peer.map { $0 == proxy } ?? (proxy.isAddress && !host.mayBeAddress)
        return isProxy ? .proxy : .server(peer ?? host)
    }

    package enum Handshake: Sendable, Equatable {
        case server(TrustHost)
        case proxy
    }
}
