// SPDX-License-Identifier: Apache-2.0

/// Whether a link can carry traffic of its own, or the first obstacle.
package indirect enum LinkUsability: Sendable, Hashable {
    case usable
    /// IFF_UP is not set.
    case switchedOff
    /// No cable, no association, or a tap without a reader.
    case noCarrier
    /// With carrier, but authentication (802.1X, WPA) is not finished.
    case dormant
    /// The operational state is down for another reason.
    case notOperational
    /// A bridge or bond without a usable port.
    case noPorts
    /// The same without any port.
    case portless
    /// Stacked on a bridge or bond of this name without a usable port.
    case noPortsBelow(String)
    /// A kind of link that drops all packets.
    case sink
    /// Stacked on a link of this name that drops all packets.
    case sinkBelow(String)
    /// A port of the link of this name, which receives the answers instead.
    case enslaved(to: String)
    /// A radio that is not a client of a network.
    case wrongMode(String)
    /// A radio switched off by rfkill.
    case radioBlocked
    /// Held down by a program (IFLA_PROTO_DOWN).
    case heldDown
    /// A bridge port that does not forward, usually because of spanning tree.
    case heldByBridge(LinkState.BridgePortState)
    /// Stacked on a link of this name, which has the cause.
    case below(String, LinkUsability)
    /// A bridge or bond whose port of this name has the cause.
    case port(String, LinkUsability)

    package func sentence(_ name: String) -> String {
        switch self {
        case .usable: "\(name) has carrier"
        case .switchedOff: "\(name) is switched off"
        case .noCarrier: "\(name): no carrier"
        case .dormant: "\(name): link is up but dormant, waiting for authentication"
        case .notOperational: "\(name): not operational"
        case .noPorts: "\(name): none of its ports is usable"
        case .portless: "\(name) has no port"
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

    /// The predicate of a sentence whose subject is the link.
    private var predicate: String {
        switch self {
        case .usable: "has carrier"
        case .switchedOff: "is switched off"
        case .noCarrier: "has no carrier"
        case .dormant: "is dormant, waiting for authentication"
        case .notOperational: "is not operational"
        case .noPorts: "has no usable port"
        case .portless: "has no port"
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

    /// The relative clause after the link's name.
    private var clause: String {
        switch self {
        case .noPorts: "none of whose ports is usable"
        case .port(let port, let cause): "whose port \(port) \(cause.predicate)"
        default: "which \(predicate)"
        }
    }

    package var code: ReachabilityReason.Code {
        switch self {
        case .noPorts, .portless, .noPortsBelow: .noPorts
        case .sink, .sinkBelow: .dropped
        case .enslaved: .bridgePort
        default: .linkDown
        }
    }
}

extension LinkState {
    /// Whether flags and operational state permit traffic.
    ///
    /// All four are needed: IFF_RUNNING is set without carrier just after switching on, some new interfaces
    /// have carrier while down, and the operational state lags behind the carrier.
    package var hasUsableState: Bool {
        flags.isSuperset(of: [.up, .lowerUp, .running])
            && (operationalState == .up || operationalState == .unknown)
    }

    /// Whether the link, as a port of a bridge, connects a guest or container on this machine.
    var isGuestCable: Bool { role == .standalone(.virtual) }

    /// Whether its bridge, if it is a port of one, lets frames pass (br_forward(), net/bridge/br_forward.c).
    var passesFrames: Bool { bridgePortState.map { $0 == .forwarding } ?? true }

    /// The usability according to flags and operational state.
    package var stateUsability: LinkUsability {
        if hasUsableState { return .usable }
        if !flags.contains(.up) { return .switchedOff }
        // IFLA_PROTO_DOWN alone is no obstacle: a macvlan takes over its lower link's flag and still works.
        let lacksCarrier = isProtocolDown ? LinkUsability.heldDown : .noCarrier
        if !flags.contains(.lowerUp) { return lacksCarrier }
        if operationalState == .dormant || flags.contains(.dormant) { return .dormant }
        return operationalState == .lowerLayerDown || operationalState == .down
            ? lacksCarrier : .notOperational
    }
}
