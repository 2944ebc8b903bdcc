// SPDX-License-Identifier: Apache-2.0

/// Numbers the paths: connections made under an older generation should not be trusted any more.
package struct PathHistory: Sendable {
    // What a connection depends on: another interface, source, router, access point, or a carrier that was away.
    private struct Identity: Equatable {
        let interface: Int32
        let source: IPAddress?
        let gateway: IPAddress?
        let underlay: Int32
        let accessPoint: [UInt8]?
        let carrierDownCount: UInt32
    }

    private var generation: UInt64 = 0
    private var identity: Identity?
    private var wasOffline = true
    private var hasResumed = false

    package init() {}

    /// The machine slept: what was connected before is not any more.
    package mutating func resumed() { hasResumed = true }

    /// Gives `path` its generation.
    ///
    /// Going offline does not count; the next usable path does.
    package mutating func number(_ path: inout ReachabilityPath) {
        if path.isOnline {
            let identity = Identity(
                interface: path.interfaceIndex, source: path.source, gateway: path.gateway,
                underlay: path.underlayIndex, accessPoint: path.accessPoint,
                carrierDownCount: path.carrierDownCount)
            if wasOffline || hasResumed || identity != self.identity { generation += 1 }
            self.identity = identity
            wasOffline = false
            hasResumed = false
        } else {
            wasOffline = generation > 0 || wasOffline
            if generation == 0 {
                // The first report is generation 1 whatever it says.
                generation = 1
            }
        }
        path.generation = generation
    }
}

extension ReachabilityPath {
    /// Whether observers are told of the difference.
    ///
    /// Wording, signal strength and metric alone are not worth a call; another reason code is, and another thing that has to be changed.
    package func differs(from other: ReachabilityPath) -> Bool {
        isOnline != other.isOnline || interface != other.interface || interfaceIndex != other.interfaceIndex
            || medium != other.medium || source != other.source || gateway != other.gateway
            || hasIPv4 != other.hasIPv4 || hasIPv6 != other.hasIPv6 || isTunnel != other.isTunnel
            || underlay != other.underlay
            || isExpensive != other.isExpensive || isPartial != other.isPartial || ssid != other.ssid
            || alternative != other.alternative || generation != other.generation
            || reason.code != other.reason.code || reason.obstacle != other.reason.obstacle
    }
}
