// SPDX-License-Identifier: Apache-2.0

/// Slows down the report of returns on a link that flaps.
///
/// Losses are never slowed down.
package struct FlapDamping: Sendable, Equatable {
    private let timing: ReachabilityTiming
    private var returns: [MonotonicInstant] = []
    private var hold: Duration?
    private var lastFlap: MonotonicInstant?

    package init(_ timing: ReachabilityTiming) { self.timing = timing }

    /// How long a path that comes back now has to be stable before it is reported; nil for not at all.
    package mutating func holdForReturn(at now: MonotonicInstant) -> Duration? {
        returns.removeAll { now - $0 > timing.dampingWindow }
        if hold == nil, returns.count >= timing.dampingThreshold { hold = timing.dampingHold }
        return hold
    }

    /// The path came or went.
    ///
    /// After a long quiet everything before is forgotten.
    package mutating func flapped(at now: MonotonicInstant) {
        if let lastFlap, now - lastFlap >= timing.dampingReset {
            returns = []
            hold = nil
        }
        lastFlap = now
    }

    /// A return was reported; a held one makes the next hold longer.
    package mutating func returned(at now: MonotonicInstant) {
        returns.append(now)
        if let hold { self.hold = min(hold * 2, timing.dampingHoldLimit) }
    }
}
