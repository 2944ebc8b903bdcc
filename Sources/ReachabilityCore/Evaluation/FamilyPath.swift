// SPDX-License-Identifier: Apache-2.0

/// The usable path of one address family; a class, because the evaluation completes it step by step.
package final class FamilyPath {
    package let destination: IPAddress
    package var link: LinkState
    package var source: IPAddress?
    package var gateway: IPAddress?
    /// Nil before Linux 4.13.
    package let metric: UInt32?
    /// The length of the route's own prefix; nil before Linux 4.13.
    package let prefixLength: Int?
    package let expires: Int32?
    package var code: ReachabilityReason.Code = .defaultRoute
    package var physicalMedium = PhysicalMedium(medium: .loopback)
    package var underlay: LinkState?
    package var isPartial = false
    /// A sentence for each leg of a multipath route that the kernel uses although it is dead.
    package var deadLegs: [String] = []
    /// Whether the link is a tunnel whose underlay could not be determined.
    package var isTunnelUnchecked = false

    package init(
        destination: IPAddress, link: LinkState, source: IPAddress?, gateway: IPAddress?, metric: UInt32?,
        prefixLength: Int?, expires: Int32?
    ) {
        self.destination = destination
        self.link = link
        self.source = source
        self.gateway = gateway
        self.metric = metric
        self.prefixLength = prefixLength
        // 0 means that the route does not expire; negative values have expired already.
        self.expires = expires.flatMap { $0 > 0 ? $0 : nil }
    }

    /// "default route via 192.0.2.1 on eth0 (metric 100)".
    package var sentence: String {
        if code == .local { return "\(destination) is this machine" }
        var line = TextLine()
        appendDestination(to: &line)
        if let gateway {
            line.append(literal: " via ")
            line.append(gateway)
        }
        line.append(literal: " on ")
        line.append(link.name)
        if let metric {
            line.append(literal: " (metric ")
            line.append(metric)
            line.append(literal: ")")
        }
        if let underlay {
            line.append(literal: ", carried by ")
            line.append(underlay.name)
        }
        if !deadLegs.isEmpty {
            line.append(literal: "; what the kernel sends over another leg is lost (")
            line.append(deadLegs.joined(separator: ", "))
            line.append(literal: ")")
        }
        return line.text
    }

    private func appendDestination(to line: inout TextLine) {
        guard let prefixLength else {
            line.append(literal: "route")
            if code != .defaultRoute { line.append(" to \(destination)") }
            return
        }
        if code == .defaultRoute, prefixLength == 0 { return line.append(literal: "default route") }
        line.append(literal: "route to ")
        line.append(IPPrefix(destination, length: prefixLength)?.description ?? destination.description)
    }
}

/// The result of one address family: a path or a failure; neither if no destination has the family.
package struct FamilyResult {
    package let family: IPAddress.Family
    package let path: FamilyPath?
    package let failure: PathFailure?
}
