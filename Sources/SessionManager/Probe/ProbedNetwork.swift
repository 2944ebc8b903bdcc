// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityCore
import SessionCore

extension UplinkProbeStateMachine.Network {
    /// What a report says of the uplinks.
    init(_ update: ReachabilityUpdate, _ links: [LinkReport]) {
        self.init()
        let path = update.path
        // Unknown: asking finds it out. With an alternative the transfer goes over that.
        isUsable = path.isOnline || update.status == .unknown || path.alternative != nil
        generation = path.generation
        isTunnel = path.isTunnel
        isAlternative = isUsable && path.interface == nil && path.alternative != nil
        let name = isUsable ? path.interface ?? path.alternative : nil
        let own = links.first { $0.name == name }
        preferred = name.map {
            .init(
                $0, index: own?.index ?? path.interfaceIndex,
                gateway: (path.gateway ?? own?.gateway)?.description,
                traits: UplinkTraits(isExpensive: path.isExpensive))
        }
        // This machine itself needs no uplink.
        guard path.medium != .loopback else { return }
        others = links.filter { $0.isOnline && $0.name != name }.map { link in
            .init(
                link.name, index: link.index, gateway: link.gateway?.description,
                traits: UplinkTraits(
                    isWiFi: link.isWiFi,
                    isWired: !link.isWiFi && link.medium != .cellular && link.medium != .other,
                    isExpensive: link.isExpensive, isConstrained: link.isConstrained))
        }
    }
}
