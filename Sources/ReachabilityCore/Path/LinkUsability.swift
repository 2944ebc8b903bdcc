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
        default: return state
        }
    }

    /// A stacked link takes over its lower link's carrier, but a bridge that never had a port has one (RS-096).
    private mutating func usabilityBelow(_ link: LinkState, depth: Int) throws(Incomplete) -> LinkUsability {
        guard !link.lowerIsElsewhere, let lower = link.lower, lower != link.index,
            let below = try self.link(lower)
        else { return .usable }
        switch try usability(of: below, depth: depth + 1) {
        case .noPorts: return .noPortsBelow(below.name)
        case .noPortsBelow(let name): return .noPortsBelow(name)
        default: return .usable
        }
    }

    private mutating func usabilityOfPorts(of link: LinkState, depth: Int) throws(Incomplete) -> LinkUsability
    {
        let place = PortsPlace(master: link.index, depth: depth)
        if let concluded = portsUsability[place] {
            concludedElsewhere()
            guard let concluded else { throw Incomplete() }
            return concluded
        }
        portsUsability[place] = .some(nil)
        var isComplete = true
        for port in try ports(of: link.index) where port.hasUsableState {
            // All ports are visited even where answers are missing: then all can ask at once.
            guard let usability = try? usability(of: port, depth: depth + 1) else {
                isComplete = false
                continue
            }
            if usability == .usable {
                portsUsability[place] = .usable
                return .usable
            }
        }
        guard isComplete else { throw Incomplete() }
        portsUsability[place] = .noPorts
        return .noPorts
    }
}
