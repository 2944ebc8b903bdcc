// SPDX-License-Identifier: Apache-2.0

/// Numbers the paths: connections made under an older generation should no longer be trusted.
package struct PathHistory: Sendable {
    // The properties that connections depend on.
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

    /// The machine slept: earlier connections should no longer be trusted.
    package mutating func resumed() { hasResumed = true }

    /// Sets the generation of `path`: going offline does not increment it; the next usable path does.
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
            generation = max(generation, 1)  // The first report is always generation 1.
        }
        path.generation = generation
    }
}

extension ReachabilityPath {
    /// Whether the difference is worth an update: wording, signal strength or metric alone are not.
    package func differs(from other: ReachabilityPath) -> Bool {
        isOnline != other.isOnline || interface != other.interface || interfaceIndex != other.interfaceIndex
            || medium != other.medium || source != other.source || gateway != other.gateway
            || hasIPv4 != other.hasIPv4 || hasIPv6 != other.hasIPv6 || isTunnel != other.isTunnel
            || underlay != other.underlay || isExpensive != other.isExpensive || cost != other.cost
            || isPartial != other.isPartial
            || ssid != other.ssid || alternative != other.alternative || generation != other.generation
            || reason.code != other.reason.code || reason.obstacle != other.reason.obstacle
    }
}

/// Delays the report of returns on a link that flaps; losses are never delayed.
package struct FlapDamping: Sendable, Equatable {
    private let timing: ReachabilityTiming
    private var returns: [MonotonicInstant] = []
    private var hold: Duration?
    private var lastFlap: MonotonicInstant?

    package init(_ timing: ReachabilityTiming) { self.timing = timing }

    /// The time a returning path must be stable before it is reported; nil for no delay.
    package mutating func holdForReturn(at now: MonotonicInstant) -> Duration? {
        returns.removeAll { now - $0 > timing.dampingWindow }
        if hold == nil, returns.count >= timing.dampingThreshold { hold = timing.dampingHold }
        return hold
    }

    /// The path was lost or returned; a long quiet time before it resets the damping.
    package mutating func flapped(at now: MonotonicInstant) {
        if let lastFlap, now - lastFlap >= timing.dampingReset {
            returns = []
            hold = nil
        }
        lastFlap = now
    }

    /// A return was reported; a delayed one doubles the next delay.
    package mutating func returned(at now: MonotonicInstant) {
        returns.append(now)
        if let hold { self.hold = min(hold * 2, timing.dampingHoldLimit) }
    }
}
