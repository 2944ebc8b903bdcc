// SPDX-License-Identifier: Apache-2.0

/// Whether requests may start: open, or held by the network, by the user, or by both.
///
/// A loss holds at once. A return opens after the path has lasted for a moment, for a longer one where it
/// comes and goes. Nothing is known in the beginning, and what is unknown holds nothing back. Time is
/// nanoseconds of a clock that does not jump.
package struct RequestGateStateMachine: ~Copyable, Sendable {
    private enum State: Equatable {
        /// All requests whose conditions the facts meet may start.
        case open
        case lost
        /// There is a path again, which has to last until then.
        case settling(until: Int64)
    }

    /// How long a return has to last, in nanoseconds.
    package struct Timing: Sendable, Equatable {
        package var settle: Int64 = 100_000_000
        /// The same after three losses within ``flapWindow``.
        package var flapSettle: Int64 = 500_000_000
        package var flapWindow: Int64 = 2_000_000_000
        package init() {}
    }

    /// What an event has changed.
    package struct Change: Sendable, Equatable {
        /// Demands that the network met and no longer meets.
        package var closed: DemandSet = []
        /// Demands that the network meets again.
        package var opened: DemandSet = []
        package init() {}
    }

    package var timing = Timing()
    private var state = State.open
    private(set) package var facts = NetworkFacts.unknown
    private(set) package var isPaused = false
    private var rescue = RescuePolicy.automatic
    /// Whether the clock has made a certificate invalid, and was not set since.
    private var isClockWrong = false
    /// What the network lets through.
    private(set) package var passable = DemandSet.all
    /// What sockets are bound to.
    private(set) package var binding = PathBinding.any
    /// The last three losses, the newest first.
    private var losses: (Int64, Int64, Int64) = (.min, .min, .min)

    package init() {}

    /// Demands that may start now.
    package var startable: DemandSet { isPaused ? [] : passable }

    /// When ``deadlineReached(at:)`` is to be called; nil for never.
    package var nextDeadline: Int64? {
        if case .settling(let until) = state { until } else { nil }
    }

    // MARK: What happens

    /// The network is like this now.
    package mutating func networkChanged(_ new: NetworkFacts, at now: Int64) -> Change {
        facts = new
        switch (state, new.standing) {
        case (_, .unknown): state = .open
        case (.open, _) where !isUsable, (.settling, _) where !isUsable:
            state = .lost
            losses = (now, losses.0, losses.1)
        case (.lost, _) where isUsable:
            let wait = isFlapping(at: now) ? timing.flapSettle : timing.settle
            state = wait > 0 ? .settling(until: now &+ wait) : .open
        default: break
        }
        return update()
    }

    /// A certificate is not valid by the clock, which nothing keeps right; or the clock was set since.
    package mutating func clockChanged(isWrong: Bool) -> Change {
        isClockWrong = isWrong
        return update()
    }

    /// Another source reports the network from now on; the reports of the former one do not count.
    ///
    /// - Parameter isRequired: Whether it reports a network that is asked for: nothing starts before it does.
    package mutating func sourceChanged(isRequired: Bool = false) -> Change {
        facts = NetworkFacts(isRequired ? .offline : .unknown)
        state = isRequired ? .lost : .open
        losses = (.min, .min, .min)
        return update()
    }

    package mutating func deadlineReached(at now: Int64) -> Change {
        guard case .settling(let until) = state, until <= now else { return Change() }
        state = .open
        return update()
    }

    /// The user holds the queue; false where that was so.
    package mutating func paused() -> Bool {
        defer { isPaused = true }
        return !isPaused
    }

    /// The user ends the pause; false where there was none.
    package mutating func resumed() -> Bool {
        defer { isPaused = false }
        return isPaused
    }

    package mutating func rescuePolicyChanged(_ policy: RescuePolicy, at now: Int64) -> Change {
        rescue = policy
        return networkChanged(facts, at: now)
    }

    /// What others may know of it.
    package var view: GateView {
        GateView(
            facts: facts, passable: passable, isPaused: isPaused, isBound: isRescued,
            isLost: state == .lost,
            isSettling: nextDeadline != nil, isClockWrong: isClockWrong)
    }

    // MARK: How it follows

    private var isUsable: Bool {
        switch rescue {
        case .automatic: facts.standing != .offline || facts.alternative != nil
        case .never: facts.standing != .offline
        case .always(let interface): facts.standing != .offline || facts.alternative == interface
        }
    }

    /// Whether the alternative is what carries everything.
    private var isRescued: Bool { facts.isDetoured || facts.standing == .offline && binding != .any }

    private func isFlapping(at now: Int64) -> Bool {
        losses.2 > .min && now &- losses.2 <= timing.flapWindow
    }

    private mutating func update() -> Change {
        binding =
            switch rescue {
            case _ where facts.isRequired: facts.interface.map { .interface($0) } ?? .any
            case .always(let interface): .interface(interface)
            case .automatic where facts.standing == .offline: facts.alternative.map { .interface($0) } ?? .any
            default: .any
            }
        let before = passable
        passable = state == .open ? facts.met(isBound: isRescued) : DemandSet(.nothing)
        if isClockWrong { passable.subtract(.needingClock) }
        var change = Change()
        change.closed = before.subtracting(passable)
        change.opened = passable.subtracting(before)
        return change
    }
}
