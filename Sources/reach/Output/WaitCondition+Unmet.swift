// SPDX-License-Identifier: Apache-2.0

import Reachability
import ServiceCore

extension WaitCondition {
    /// What a link lacks for it; `report` is the link's.
    func unmet(_ link: LinkReport, _ path: ReachabilityPath) -> String {
        let sentence = LinkTable.sentence(link, path)
        switch goal {
        case .reachable: return link.isOnline ? "online: \(sentence)" : sentence
        case .unreachable: return link.isOnline ? "is online: \(sentence)" : "offline: \(sentence)"
        case .wifi where !Self.mayBeWiFi(link.medium): return "\(link.medium), not Wi-Fi"
        case .wired where link.medium == .wifi: return "Wi-Fi, not wired"
        case .wifi, .wired: return link.isOnline ? "online: \(sentence)" : sentence
        }
    }

    // What lies on top of other links may be carried by Wi-Fi.
    private static func mayBeWiFi(_ medium: Medium) -> Bool {
        switch medium {
        case .wifi, .tunnel, .bridge, .bond, .vlan: true
        case .ethernet, .cellular, .virtual, .loopback, .other: false
        }
    }
}
