// SPDX-License-Identifier: Apache-2.0

/// How a gate is at an instant, and why requests wait at it.
package struct GateView: Sendable {
    package var facts = NetworkFacts.unknown
    /// What the network lets through.
    package var passable = DemandSet.all
    package var isPaused = false
    /// Whether sockets are bound to the alternative.
    package var isBound = false
    var isLost = false
    var isSettling = false

    package init() {}

    init(
        facts: NetworkFacts, passable: DemandSet, isPaused: Bool, isBound: Bool, isLost: Bool,
        isSettling: Bool
    ) {
        self.facts = facts
        self.passable = passable
        self.isPaused = isPaused
        self.isBound = isBound
        self.isLost = isLost
        self.isSettling = isSettling
    }

    /// Why a request waits at the gate: the user's reason first, then the network's; none where it may leave.
    package func reasons(_ demand: NetworkDemand) -> [HoldReason] {
        let network = networkReason(demand)
        return (isPaused ? [.user] : []) + (network.map { [$0] } ?? [])
    }

    /// What of the network is in its way.
    package func networkReason(_ demand: NetworkDemand) -> HoldReason? {
        guard !passable.contains(demand) else { return nil }
        if isLost { return .network(facts.sentence) }
        if isSettling { return .settling }
        if !facts.fits(demand.condition, isBound: isBound) { return .condition(demand.condition) }
        if demand.avoidsExpense, !facts.fits(.notExpensive, isBound: isBound) {
            return .condition(.notExpensive)
        }
        return .internet
    }
}
