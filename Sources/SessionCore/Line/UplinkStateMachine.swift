// SPDX-License-Identifier: Apache-2.0

/// Decides which uplink carries what goes beyond the router: the kernel's choice while its line works, else
/// the one that was found to reach the server.
///
/// Two sources say that a line is dead: a connection that was tried (``lineDied(_:at:)``), and a probe
/// (``internetChanged(_:at:)``). The line is tried again with pauses that double, by the source that has
/// spoken: by connections, or by the probe's questions. Traffic returns when the line has answered several
/// times in a row and for a while, and no probe says otherwise; the while doubles where the line keeps dying.
///
/// | detour | line died | findings: line dead, another full | a try succeeds | findings: only the line full |
/// |---|---|---|---|---|
/// | none | begins, tried by connections | begins, tried by the probe | – | – |
/// | tried by connections | the next uplink | stays | counts; at the end the probe has to agree | ends |
/// | tried by the probe | the next uplink | stays | counts | ends |
///
/// Routes are never changed. Instants are nanoseconds of a monotonic clock.
package struct UplinkStateMachine: ~Copyable, Sendable {
    private enum Timing {
        /// The pause before a dead line is tried for the first time; doubled with each failure.
        static let firstPause: Int64 = 2_000_000_000
        static let longestPause: Int64 = 60_000_000_000
        /// The pause after a success.
        static let successPause: Int64 = 2_000_000_000
        /// How many successes in a row are needed.
        static let successes = 3
        /// How long they have to last.
        static let settle: Int64 = 5_000_000_000
        /// The most that it becomes for a line that keeps dying.
        static let longestSettle: Int64 = 160_000_000_000
        /// A line that dies again within this time counts as one that keeps dying.
        static let flapWindow: Int64 = 300_000_000_000
    }

    package enum Action: Sendable, Equatable {
        case nothing
        /// The dead line is to be tried; the answer comes back by ``tried(_:at:)``.
        case tryLine(Detour)
        /// The probe is to ask over this line; the answer comes back by ``internetChanged(_:at:)``.
        case askProbe(String)
        /// ``detour`` has changed.
        case changed
    }

    private struct Recovery {
        var next: Int64
        var pause: Int64
        var successes = 0
        var firstSuccess: Int64 = 0
        var isTrying = false
        /// Whether the probe's answers are the tries, and how many it has had.
        var isByProbe = false
        var answers = 0
    }

    private var state: (detour: Detour, recovery: Recovery)?
    private var settle = Timing.settle
    private var lastDeath = Int64.min
    /// The interface and the generation of the kernel's choice.
    private var choice: (interface: String?, generation: UInt64) = (nil, 0)
    private var findings = InternetFindings()

    package init() {}

    /// Where traffic goes instead of the dead line; nil while the kernel's choice holds.
    package var detour: Detour? { state?.detour }

    /// When ``timeCame(at:)`` is to be called; nil for never.
    package var nextDeadline: Int64? {
        guard let state, !state.recovery.isTrying else { return nil }
        return state.recovery.next
    }

    /// The line of an interface was found to be dead while an uplink reaches the server.
    package mutating func lineDied(_ new: Detour, at now: Int64) -> Action {
        if let (detour, recovery) = state, detour.uplink == new.line {
            // The second line is dead as well.
            guard new.uplink != detour.line else {
                state = nil
                return .changed
            }
            var next = new
            next.line = detour.line
            // As a whole: Swift 6.2 with assertions fails to compile `state?.detour = next` here.
            state = (next, recovery)
            return .changed
        }
        if let detour, detour == new { return .nothing }
        let answers = findings.uplink(new.line)?.answers ?? 0
        let next = now &+ Timing.firstPause
        return begin(new, Recovery(next: next, pause: Timing.firstPause, answers: answers), now)
    }

    private mutating func begin(_ new: Detour, _ recovery: Recovery, _ now: Int64) -> Action {
        let isFlapping = lastDeath > .min && now &- lastDeath <= Timing.flapWindow
        settle = isFlapping ? min(settle &* 2, Timing.longestSettle) : Timing.settle
        if new.losesLarge { settle = Timing.longestSettle }
        lastDeath = now
        state = (new, recovery)
        return .changed
    }

    /// The dead line was tried.
    package mutating func tried(_ succeeded: Bool, at now: Int64) -> Action {
        guard let detour = state?.detour, var recovery = state?.recovery, recovery.isTrying else {
            return .nothing
        }
        recovery.isTrying = false
        if succeeded {
            if recovery.successes == 0 { recovery.firstSuccess = now }
            recovery.successes += 1
            recovery.pause = Timing.firstPause
            recovery.next = now &+ Timing.successPause
            if recovery.successes >= Timing.successes, now &- recovery.firstSuccess >= settle {
                guard let line = findings.uplink(detour.line), line.state.isDead else { return end() }
                // Connections are made, and the probe finds no internet: it has the last word.
                recovery.successes = 0
                (recovery.isByProbe, recovery.answers) = (true, line.answers)
            }
        } else {
            recovery.successes = 0
            recovery.next = now &+ recovery.pause
            recovery.pause = min(recovery.pause &* 2, Timing.longestPause)
        }
        state = (detour, recovery)
        return .nothing
    }

    /// A probe has found this: whenever an answer has come, or an uplink comes or goes.
    package mutating func internetChanged(_ new: InternetFindings, at now: Int64) -> Action {
        let former = findings
        findings = new
        guard let current = state else { return beginByFindings(former, now) }
        let (detour, recovery) = current
        let line = new.uplink(detour.line)
        if new.uplink(detour.uplink)?.state.isDead == true {
            // An answer from before a connection was found dead says nothing.
            let isNews = recovery.isByProbe || line?.answers != recovery.answers
            if line?.state == .full, isNews { return end() }
            if let line, let best = new.best(besides: detour.line) {
                state = (Detour(line, by: best), recovery)
                return .changed
            }
        }
        guard recovery.isByProbe else { return .nothing }
        // The verdict was the probe's, which does not look at the line any more.
        guard let line else { return end() }
        guard line.answers != recovery.answers else { return .nothing }
        state?.recovery.answers = line.answers
        state?.recovery.isTrying = true
        return tried(line.state == .full, at: now)
    }

    private mutating func beginByFindings(_ former: InternetFindings, _ now: Int64) -> Action {
        guard let line = findings.preferred, line.state.isDead,
            let best = findings.best(besides: line.interface),
            choice.interface == nil || choice.interface == line.interface
        else { return .nothing }
        // These have been decided upon, and connections have shown otherwise since.
        let isKnown =
            former.uplink(line.interface)?.state == line.state
            && former.best(besides: line.interface)?.interface == best.interface
        guard !isKnown else { return .nothing }
        let next = now &+ Timing.firstPause
        return begin(
            Detour(line, by: best),
            Recovery(next: next, pause: Timing.firstPause, isByProbe: true, answers: line.answers), now)
    }

    private mutating func end() -> Action {
        state = nil
        return .changed
    }

    package mutating func timeCame(at now: Int64) -> Action {
        guard let current = state, !current.recovery.isTrying, current.recovery.next <= now else {
            return .nothing
        }
        state?.recovery.isTrying = true
        return current.recovery.isByProbe ? .askProbe(current.detour.line) : .tryLine(current.detour)
    }

    /// The kernel's choice is this now: what was found out about the line of another one is worthless.
    package mutating func networkChanged(interface: String?, generation: UInt64) -> Action {
        let isSame = choice.interface == interface && choice.generation == generation
        let isFirst = choice.interface == nil && choice.generation == 0
        choice = (interface, generation)
        guard !isSame else { return .nothing }
        // A probe may have found out about it before.
        if isFirst, detour == nil || detour?.line == interface { return .nothing }
        return ended()
    }

    /// Nothing may be detoured any more, and what was found does not count.
    package mutating func ended() -> Action {
        findings = InternetFindings()
        return state == nil ? .nothing : end()
    }
}
