// SPDX-License-Identifier: Apache-2.0

extension EvaluationContext {
    /// Whether packets can leave through `link` and answers arrive there.
    package mutating func egressUsability(of link: LinkState) throws(MissingAnswers) -> LinkUsability {
        let own = try usability(of: link)
        guard own == .usable, let above = try master(of: link), MediumRules.receivesForPorts(above)
        else { return own }
        return .enslaved(to: above.name)
    }

    private mutating func master(of link: LinkState) throws(MissingAnswers) -> LinkState? {
        guard let master = link.master else { return nil }
        if case .links(let links) = known(.links) { return links.first { $0.index == master } }
        return try self.link(master)
    }

    /// Whether packets can leave through `link`, including its ports and its radio.
    package mutating func usability(of link: LinkState, depth: Int = 0) throws(MissingAnswers)
        -> LinkUsability
    {
        let state = link.stateUsability
        switch link.role {
        case .aggregate where state == .usable && depth < MediumRules.maximumDepth:
            return try usabilityOfPorts(of: link, depth: depth)
        case .stacked where state == .usable && depth < MediumRules.maximumDepth:
            return try usabilityBelow(link, depth: depth)
        case .device where state == .usable:
            guard let wireless = try wireless(link.index), !wireless.isUplink else { return .usable }
            return .wrongMode(wireless.modeName)
        case .device:
            return try device(link).isRadioBlocked ? .radioBlocked : state
        case .sink where state == .usable: return .sink
        default: return state
        }
    }

    /// A stacked link inherits the carrier of its lower link, but a bridge that never had a port has carrier
    /// too (RS-096), and so has a link that drops everything.
    private mutating func usabilityBelow(_ link: LinkState, depth: Int) throws(MissingAnswers)
        -> LinkUsability
    {
        guard !link.lowerIsElsewhere, let lower = link.lower, lower != link.index,
            let below = try self.link(lower)
        else { return .usable }
        switch try usability(of: below, depth: depth + 1) {
        case .noPorts: return .noPortsBelow(below.name)
        case .noPortsBelow(let name): return .noPortsBelow(name)
        case .sink: return .sinkBelow(below.name)
        case .sinkBelow(let name): return .sinkBelow(name)
        default: return .usable
        }
    }

    private mutating func usabilityOfPorts(of link: LinkState, depth: Int) throws(MissingAnswers)
        -> LinkUsability
    {
        let key = PortsKey(master: link.index, depth: depth)
        if let concluded = portsUsability[key] {
            guard let concluded else { throw MissingAnswers() }
            return concluded
        }
        portsUsability[key] = .some(nil)
        let conclusion: LinkUsability =
            try hasUsablePort(among: try ports(of: link.index), of: link, depth: depth) ? .usable : .noPorts
        portsUsability[key] = conclusion
        return conclusion
    }

    /// Whether one of the ports is a usable uplink: any port of a bond; in a bridge a guest's cable only if
    /// there are no other ports, as in a container, since beside others its traffic stays on this machine.
    private mutating func hasUsablePort(
        among ports: [LinkState], of master: LinkState, depth: Int
    ) throws(MissingAnswers) -> Bool {
        let isBridge = master.role == .aggregate(.bridge)
        if try hasUsablePort(among: isBridge ? ports.filter { !$0.isGuestCable } : ports, depth: depth) {
            return true
        }
        guard isBridge, try hasUsablePort(among: ports.filter(\.isGuestCable), depth: depth)
        else { return false }
        let others = ports.filter { !$0.isGuestCable && $0.role != .sink }
        // An access point connects stations, which are guests too.
        let devices = others.filter { $0.role == .device }
        guard devices.count == others.count else { return false }
        try require(devices.map { .wireless($0.index) })
        for device in devices where try wireless(device.index)?.isUplink ?? true { return false }
        return true
    }

    private mutating func hasUsablePort(among ports: [LinkState], depth: Int) throws(MissingAnswers) -> Bool {
        var isComplete = true
        for port in ports where port.hasUsableState && port.passesFrames {
            // Visits all of them even if answers are missing, so that all questions are requested together.
            guard let usability = try? usability(of: port, depth: depth + 1) else {
                isComplete = false
                continue
            }
            if usability == .usable { return true }
        }
        guard isComplete else { throw MissingAnswers() }
        return false
    }
}

// The cause of an obstacle, for sentences: the link that has to be changed.
extension EvaluationContext {
    /// What keeps packets from leaving through a link: the code of the reason, and the cause.
    package typealias Obstacle = (code: ReachabilityReason.Code, cause: LinkUsability)

    /// What keeps packets from leaving through `link`; nil if nothing does.
    package mutating func obstacle(of link: LinkState) throws(MissingAnswers) -> Obstacle? {
        let usability = try usability(of: link)
        return usability == .usable ? nil : (usability.code, try cause(of: usability, of: link))
    }

    /// `usability` of `link`, traced to the lower link or the port that causes it.
    package mutating func cause(
        of usability: LinkUsability, of link: LinkState, depth: Int = 0
    ) throws(MissingAnswers) -> LinkUsability {
        guard depth < MediumRules.maximumDepth else { return usability }
        switch (link.role, usability) {
        case (.stacked, .noCarrier), (.stacked, .switchedOff):
            return try causeBelow(link, usability, depth: depth)
        case (.aggregate, .noCarrier), (.aggregate, .noPorts):
            return try causeOfPorts(link, depth: depth) ?? usability
        default: return usability
        }
    }

    private mutating func causeBelow(
        _ link: LinkState, _ own: LinkUsability, depth: Int
    ) throws(MissingAnswers) -> LinkUsability {
        guard !link.lowerIsElsewhere, let lower = link.lower, lower != link.index,
            let below = try self.link(lower)
        else { return own }
        let state = try usability(of: below, depth: depth + 1)
        // The kernel switches a VLAN off and on with its lower link (vlan_device_event(), net/8021q/vlan.c);
        // if the lower link is on, the cause is not there.
        guard state != .usable, own != .switchedOff || state == .switchedOff else { return own }
        let cause = try cause(of: state, of: below, depth: depth + 1)
        if case .below = cause { return cause }
        return .below(below.name, cause)
    }

    /// The port that keeps a bridge or bond from having carrier; nil if it is not a single one.
    private mutating func causeOfPorts(_ link: LinkState, depth: Int) throws(MissingAnswers) -> LinkUsability?
    {
        let ports = try ports(of: link.index)
        if ports.isEmpty { return .portless }
        // A guest's port blocks no way out.
        let outward = ports.filter { !$0.isGuestCable }
        for port in outward.isEmpty ? ports : outward where port.hasUsableState && !port.passesFrames {
            if let state = port.bridgePortState { return .port(port.name, .heldByBridge(state)) }
        }
        let isOff = ports.allSatisfy { !$0.flags.contains(.up) }
        guard isOff, let first = ports.first else { return nil }
        return .port(first.name, try cause(of: .switchedOff, of: first, depth: depth + 1))
    }
}
