// SPDX-License-Identifier: Apache-2.0

/// Whether packets can leave through a link, and the first thing that is in the way.
package indirect enum LinkUsability: Sendable, Hashable {
    case usable
    /// Nobody switched it on.
    case switchedOff
    /// No cable, no association, no reader.
    case noCarrier
    /// Carrier is there, but authentication (802.1X, WPA) is not finished.
    case dormant
    /// The operational state says no for another reason.
    case notOperational
    /// A bridge or bond without a usable port.
    case noPorts
    /// Stacked upon a bridge or bond of this name, which is without a usable port.
    case noPortsBelow(String)
    /// A link of a kind that drops everything.
    case sink
    /// Stacked upon a link of this name, which drops everything.
    case sinkBelow(String)
    /// A port of the link of this name, which takes over all that comes back.
    case enslaved(to: String)
    /// A radio that is not a client of a network.
    case wrongMode(String)
    /// A radio switched off by rfkill.
    case radioBlocked
    /// A program holds it down (IFLA_PROTO_DOWN).
    case heldDown
    /// The port of a bridge does not forward, mostly because of spanning tree.
    case heldByBridge(LinkState.BridgePortState)
    /// Stacked upon a link of this name, which is the one that has to be acted upon.
    case below(String, LinkUsability)
    /// A bridge or bond whose port of this name has to be acted upon.
    case port(String, LinkUsability)

    /// What to tell the person; `name` is the interface.
    package func sentence(_ name: String) -> String {
        switch self {
        case .usable: "\(name) has carrier"
        case .switchedOff: "\(name) is switched off"
        case .noCarrier: "\(name): no carrier"
        case .dormant: "\(name): link is up but dormant, waiting for authentication"
        case .notOperational: "\(name): not operational"
        case .noPorts: "\(name): none of its ports is usable"
        case .noPortsBelow(let lower): "\(name): it lies on \(lower), none of whose ports is usable"
        case .sink, .enslaved: "\(name) \(predicate)"
        case .sinkBelow: "\(name): it \(predicate)"
        case .wrongMode(let mode): "\(name): is in \(mode) mode, not a client of a network"
        case .radioBlocked: "\(name): rfkill-blocked"
        case .heldDown: "\(name): is held down by a program (protodown)"
        case .heldByBridge: "\(name): \(predicate)"
        case .below(let lower, let cause): "\(name): it lies on \(lower), \(cause.clause)"
        case .port(let port, let cause): "\(name): its port \(port) \(cause.predicate)"
        }
    }

    /// What is said of a link behind its name.
    private var predicate: String {
        switch self {
        case .usable: "has carrier"
        case .switchedOff: "is switched off"
        case .noCarrier: "has no carrier"
        case .dormant: "is dormant, waiting for authentication"
        case .notOperational: "is not operational"
        case .noPorts: "has no usable port"
        case .noPortsBelow(let lower): "lies on \(lower), none of whose ports is usable"
        case .sink: "drops everything that is sent through it"
        case .sinkBelow(let lower): "lies on \(lower), which drops everything that is sent through it"
        case .enslaved(let master):
            "is a port of \(master), where all answers arrive: \(master) needs the address and the route"
        case .wrongMode(let mode): "is in \(mode) mode, not a client of a network"
        case .radioBlocked: "is rfkill-blocked"
        case .heldDown: "is held down by a program (protodown)"
        case .heldByBridge(.blocking): "is blocked by spanning tree"
        case .heldByBridge(.disabled): "is disabled in its bridge"
        case .heldByBridge: "waits for spanning tree"
        case .below(let lower, let cause): "lies on \(lower), \(cause.clause)"
        case .port(let port, let cause): "has the port \(port), which \(cause.predicate)"
        }
    }

    /// What is said of a link in a clause behind its name.
    private var clause: String {
        switch self {
        case .noPorts: "none of whose ports is usable"
        case .port(let port, let cause): "whose port \(port) \(cause.predicate)"
        default: "which \(predicate)"
        }
    }

    /// The reason code.
    package var code: ReachabilityReason.Code {
        switch self {
        case .noPorts, .noPortsBelow: .noPorts
        case .sink, .sinkBelow: .dropped
        case .enslaved: .bridgePort
        default: .linkDown
        }
    }
}

extension LinkState {
    /// Flags and operational state alone.
    ///
    /// All four are needed: IFF_RUNNING is set without carrier just after switching on, carrier is there on some
    /// fresh interfaces that are down, and the operational state lags behind the carrier.
    package var hasUsableState: Bool {
        flags.isSuperset(of: [.up, .lowerUp, .running])
            && (operationalState == .up || operationalState == .unknown)
    }

    /// Whether the link is a cable to a guest or container on this machine, seen among the ports of a bridge.
    fileprivate var isGuestCable: Bool { role == .standalone(.virtual) }

    /// What flags and operational state say.
    package var stateUsability: LinkUsability {
        if hasUsableState { return .usable }
        if !flags.contains(.up) { return .switchedOff }
        // A link that has carrier all the same works: macvlan takes over the one underneath.
        let lacksCarrier = isProtocolDown ? LinkUsability.heldDown : .noCarrier
        if !flags.contains(.lowerUp) { return lacksCarrier }
        if operationalState == .dormant || flags.contains(.dormant) { return .dormant }
        return operationalState == .lowerLayerDown || operationalState == .down
            ? lacksCarrier : .notOperational
    }
}

extension Inquiry {
    /// Whether packets can leave through `link`, and whether what comes back arrives there as well.
    package mutating func egressUsability(of link: LinkState) throws(Incomplete) -> LinkUsability {
        let own = try usability(of: link)
        guard own == .usable, let above = try master(of: link), MediumRules.takesOver(above) else {
            return own
        }
        return .enslaved(to: above.name)
    }

    private mutating func master(of link: LinkState) throws(Incomplete) -> LinkState? {
        guard let master = link.master else { return nil }
        if case .links(let links) = known(.links) { return links.first { $0.index == master } }
        return try self.link(master)
    }

    /// Whether packets can leave through `link`, its ports and its radio included.
    package mutating func usability(of link: LinkState, depth: Int = 0) throws(Incomplete) -> LinkUsability {
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

    /// A stacked link takes over its lower link's carrier, but a bridge that never had a port has one (RS-096), and so has a
    /// link that drops everything.
    private mutating func usabilityBelow(_ link: LinkState, depth: Int) throws(Incomplete) -> LinkUsability {
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

    private mutating func usabilityOfPorts(of link: LinkState, depth: Int) throws(Incomplete) -> LinkUsability
    {
        let place = PortsPlace(master: link.index, depth: depth)
        if let concluded = portsUsability[place] {
            guard let concluded else { throw Incomplete() }
            return concluded
        }
        portsUsability[place] = .some(nil)
        let conclusion: LinkUsability =
            try hasUsablePort(among: try ports(of: link.index), of: link, depth: depth) ? .usable : .noPorts
        portsUsability[place] = conclusion
        return conclusion
    }

    /// Whether one of the ports leads to where the master is meant to lead.
    ///
    /// Every port of a bond is an uplink. In a bridge a cable to a guest is one only where there is nothing else, as in a
    /// container: otherwise what goes through it stays on this machine, whatever has become of the uplink.
    private mutating func hasUsablePort(
        among ports: [LinkState], of master: LinkState, depth: Int
    ) throws(Incomplete) -> Bool {
        let isBridge = master.role == .aggregate(.bridge)
        if try hasUsablePort(among: isBridge ? ports.filter { !$0.isGuestCable } : ports, depth: depth) {
            return true
        }
        guard isBridge, try hasUsablePort(among: ports.filter(\.isGuestCable), depth: depth) else {
            return false
        }
        let others = ports.filter { !$0.isGuestCable && $0.role != .sink }
        // An access point leads to its stations, which are guests as well.
        let devices = others.filter { $0.role == .device }
        guard devices.count == others.count else { return false }
        try require(devices.map { .wireless($0.index) })
        for device in devices where try wireless(device.index)?.isUplink ?? true { return false }
        return true
    }

    /// Whether one of the ports is usable.
    private mutating func hasUsablePort(among ports: [LinkState], depth: Int) throws(Incomplete) -> Bool {
        var isComplete = true
        for port in ports where port.hasUsableState {
            // All ports are visited even where answers are missing: then all can ask at once.
            guard let usability = try? usability(of: port, depth: depth + 1) else {
                isComplete = false
                continue
            }
            if usability == .usable { return true }
        }
        guard isComplete else { throw Incomplete() }
        return false
    }
}
