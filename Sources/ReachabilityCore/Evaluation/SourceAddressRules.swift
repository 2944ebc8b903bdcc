// SPDX-License-Identifier: Apache-2.0

// The rules for the source address of a path, apart from the kernel's answers that they judge.

extension RouteAnswer {
    /// The source address, unless replies cannot reach it.
    ///
    /// While every IPv6 address of the link is tentative, the kernel falls back to ::1, which passes every
    /// address check (ipv6_dev_get_saddr(), net/ipv6/addrconf.c); the next hop drops packets from there.
    package var sender: IPAddress? { source.flatMap { $0.isLoopback ? nil : $0 } }
}

extension IPAddress {
    /// Whether packets from this source to `destination` cannot leave the link.
    ///
    /// Routers do not forward link-local sources (RFC 4291 §2.5.6, RFC 3927 §2.7). An IPv4 route with a
    /// gateway for such a source relies on address translation there, as in guests of clouds and microVMs.
    package func isLinkOnlySource(for destination: IPAddress, gateway: IPAddress?) -> Bool {
        isLinkLocal && !destination.staysOnLink && (family == .ipv6 || gateway == nil)
    }
}
