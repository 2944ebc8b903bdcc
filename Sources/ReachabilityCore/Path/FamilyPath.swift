// SPDX-License-Identifier: Apache-2.0

/// The usable path of one address family.
package struct FamilyPath: Sendable, Equatable {
    package var destination: IPAddress
    package var link: LinkState
    package var source: IPAddress?
    package var gateway: IPAddress?
    package var metric: UInt32
    package var prefixLength: Int
    package var expires: Int32?
    package var code: ReachabilityReason.Code = .defaultRoute
    package var carrier = Carrier(medium: .loopback)
    package var underlay: LinkState?
    package var isPartial = false

    package init(
        destination: IPAddress, link: LinkState, source: IPAddress?, gateway: IPAddress?, metric: UInt32,
        prefixLength: Int, expires: Int32?
    ) {
        self.destination = destination
        self.link = link
        self.source = source
        self.gateway = gateway
        self.metric = metric
        self.prefixLength = prefixLength
        // The kernel tells 0 where a route does not expire, and what is negative has expired already.
        self.expires = expires.flatMap { $0 > 0 ? $0 : nil }
    }

    /// "default route via 192.0.2.1 on eth0 (metric 100)".
    package var sentence: String {
        if code == .local { return "\(destination) is this machine" }
        let prefix = IPPrefix(destination, length: prefixLength)
        let what =
            code == .defaultRoute && prefixLength == 0
            ? "default route" : "route to \(prefix?.description ?? destination.description)"
        let hop = gateway.map { " via \($0)" } ?? ""
        let carried = underlay.map { ", carried by \($0.name)" } ?? ""
        return "\(what)\(hop) on \(link.name) (metric \(metric.decimal))\(carried)"
    }
}

/// What one address family comes to: a path or a failure; neither where no destination has the family.
package struct FamilyResult: Sendable {
    package let family: IPAddress.Family
    package let path: FamilyPath?
    package let failure: PathFailure?
}
