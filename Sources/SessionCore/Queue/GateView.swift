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
    var isClockWrong = false

    package init() {}

    init(
        facts: NetworkFacts, passable: DemandSet, isPaused: Bool, isBound: Bool, isLost: Bool,
        isSettling: Bool, isClockWrong: Bool
    ) {
        self.facts = facts
        self.passable = passable
        self.isPaused = isPaused
        self.isBound = isBound
        self.isLost = isLost
        self.isSettling = isSettling
        self.isClockWrong = isClockWrong
    }

    /// Why a request waits at the gate: the user's reason first, then the network's; none where it may start.
    package func reasons(_ demand: NetworkDemand) -> [HoldReason] {
        let network = networkReason(demand)
        return (isPaused ? [.user] : []) + (network.map { [$0] } ?? [])
    }

    /// What of the network is in its way.
    package func networkReason(_ demand: NetworkDemand) -> HoldReason? {
        guard !passable.contains(demand) else { return nil }
        if isLost { return .network(facts.sentence) }
        if isSettling { return .settling }
        if isClockWrong, demand.needsClock { return .clock }
        if !facts.fits(demand.medium, isBound: isBound) { return .condition(demand.medium) }
        return facts.unaffordable(demand, isBound: isBound).map { .condition($0) } ?? .internet
    }

    /// Why the network or the clock is in its way, in a sentence.
    package func sentence(_ demand: NetworkDemand) -> String {
        switch networkReason(demand) {
        case .clock?: ClockStatus.sentence
        case .internet?: facts.internetSentence
        default: facts.sentence
        }
    }

    /// Why a request that must not wait any longer fails.
    package func failureSentence(_ demand: NetworkDemand) -> String {
        switch networkReason(demand) {
        case .network(let sentence)?:
            sentence.isEmpty ? "there is no network" : "there is no network: \(sentence)"
        case .condition(let condition)?: "the network is not \(condition)"
        case .internet?:
            facts.internetSentence.isEmpty
                ? "the internet was not found behind the network"
                : "there is no internet: \(facts.internetSentence)"
        case .clock?: ClockStatus.sentence
        default: "the network comes and goes"
        }
    }
}

/// What the sockets of a transfer are bound to.
package enum PathBinding: Sendable, Equatable {
    /// Nothing: the kernel chooses the path.
    case any
    /// An interface (SO_BINDTODEVICE, socket(7)): the one that the request names, or another since the
    /// kernel's own choice is dead.
    case interface(String)

    // Spelt out: what the compiler derives is reached by other modules through the protocol alone, and this
    // is asked several times a request.

    package static func == (one: PathBinding, other: PathBinding) -> Bool {
        switch (one, other) {
        case (.any, .any): true
        case (.interface(let name), .interface(let otherName)): name == otherName
        case (.any, .interface), (.interface, .any): false
        }
    }
}

/// Whether transfers are bound to an interface (SO_BINDTODEVICE, socket(7)) that has a path while the
/// kernel's own choice is dead.
///
/// That happens when a cable is out and its default route, with the better metric, is still there: every
/// unbound connection of the device times out then, though Wi-Fi would carry it.
public enum RescuePolicy: Sendable, Hashable, Codable {
    /// While the kernel's choice is dead and another interface has a path; not before and not longer.
    case automatic
    /// Never: what the kernel chooses is used, or waited for.
    case never
    /// Always to this interface, whatever the kernel chooses.
    case always(interface: String)
}
