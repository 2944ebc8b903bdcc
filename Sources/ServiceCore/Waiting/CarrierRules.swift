// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

/// Whether the links that `--no-carrier-timeout` considers have a carrier; `WaitStateMachine` decides when to
/// give up.
enum CarrierRules {
    /// Whether one of the links that the condition considers has a carrier.
    ///
    /// A named interface that does not exist has none.
    static func hasCarrier(_ links: [LinkReport], _ condition: WaitCondition) -> Bool {
        let considered = links.filter { condition.considers($0.name) }
        guard condition.interfaces.isEmpty else { return considered.contains(where: \.hasCarrier) }
        // Bridges, bonds and VLANs have the carrier of the devices beneath, which are links too, and a bridge
        // to containers has one of its own. In a container there may be no device.
        let devices = considered.filter(\.isDevice)
        return (devices.isEmpty ? considered.filter(\.isOwnWire) : devices).contains(where: \.hasCarrier)
    }
}

extension LinkReport {
    fileprivate var isDevice: Bool {
        switch medium {
        case .ethernet, .wifi, .cellular, .other: true
        case .tunnel, .bridge, .bond, .vlan, .virtual, .loopback: false
        }
    }

    /// A tunnel has a carrier whenever it is switched on.
    fileprivate var isOwnWire: Bool { medium != .tunnel && medium != .loopback }

    /// Whether the link has a carrier that can lead out.
    fileprivate var hasCarrier: Bool {
        guard case .link(let usability) = reason.obstacle else { return true }
        return usability.hasCarrier
    }
}

extension LinkUsability {
    /// Whether what is missing is something else than a carrier.
    fileprivate var hasCarrier: Bool {
        switch self {
        // A port that spanning tree blocks has its cable, and forwards after half a minute.
        case .usable, .dormant, .notOperational, .enslaved, .heldByBridge: true
        case .below(_, let cause), .port(_, let cause): cause.hasCarrier
        case .switchedOff, .noCarrier, .radioBlocked, .heldDown: false
        // These have one, and lead nowhere.
        case .noPorts, .portless, .noPortsBelow, .sink, .sinkBelow, .wrongMode: false
        }
    }
}
