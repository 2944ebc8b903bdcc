// SPDX-License-Identifier: Apache-2.0

// Which link has to be acted upon where one cannot be used; asked only where a sentence is made of it.
extension Inquiry {
    /// `usability` of `link`, told by the link underneath or by the port that is behind it.
    package mutating func cause(
        of usability: LinkUsability, of link: LinkState, depth: Int = 0
    ) throws(Incomplete) -> LinkUsability {
        guard depth < MediumRules.maximumDepth else { return usability }
        switch (link.role, usability) {
        case (.stacked, .noCarrier), (.stacked, .switchedOff):
            return try causeBelow(link, usability, depth: depth)
        case (.aggregate, .noCarrier): return try causeOfPorts(link, depth: depth) ?? usability
        default: return usability
        }
    }

    private mutating func causeBelow(
        _ link: LinkState, _ own: LinkUsability, depth: Int
    ) throws(Incomplete) -> LinkUsability {
        guard !link.lowerIsElsewhere, let lower = link.lower, lower != link.index,
            let below = try self.link(lower)
        else { return own }
        let state = try usability(of: below, depth: depth + 1)
        // The kernel switches a VLAN off and on with the link underneath (vlan_device_event(), net/8021q/vlan.c); over one
        // that is on, another reason is behind it.
        guard state != .usable, own != .switchedOff || state == .switchedOff else { return own }
        let cause = try cause(of: state, of: below, depth: depth + 1)
        if case .below = cause { return cause }
        return .below(below.name, cause)
    }

    /// The port that keeps a bridge or bond from having carrier; nil where none stands out.
    private mutating func causeOfPorts(_ link: LinkState, depth: Int) throws(Incomplete) -> LinkUsability? {
        let ports = try knownPorts(of: link.index)
        for port in ports where port.hasUsableState {
            if let state = port.bridgePortState, state != .forwarding {
                return .port(port.name, .heldByBridge(state))
            }
        }
        let isOff = ports.allSatisfy { !$0.flags.contains(.up) }
        guard isOff, let first = ports.first else { return nil }
        return .port(first.name, try cause(of: .switchedOff, of: first, depth: depth + 1))
    }
}
