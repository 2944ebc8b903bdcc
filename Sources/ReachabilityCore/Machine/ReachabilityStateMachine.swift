// SPDX-License-Identifier: Apache-2.0

/// Decides when to ask the kernel and what to tell: from events and evaluations to statuses.
///
/// Pure: time comes in as an instant and goes out as ``nextDeadline``. A gain is told at once, a loss at once as a
/// path and after the grace as a status, so cable bounces and hand-overs never show as `unreachable`.
package struct ReachabilityStateMachine: ~Copyable, Sendable {
    /// What follows from an event.
    package enum Reaction: Sendable, Equatable {
        /// Nothing to do.
        case ignore
        /// Ask the kernel now.
        case evaluate
        /// Ask the kernel when ``nextDeadline`` has come.
        case wait
    }

    /// What follows from a deadline.
    package enum Due: Sendable, Equatable {
        /// It was somebody else's, or has been overtaken.
        case nothing
        /// Ask the kernel; `afresh` also for what is remembered about links and addresses.
        case evaluate(afresh: Bool)
    }

    /// What follows from an evaluation.
    package enum Verdict: Sendable, Equatable {
        /// Monitoring was stopped meanwhile.
        case ignore
        /// Nothing worth telling; this is the path now.
        case refresh(ReachabilityPath)
        /// Observers are told.
        case publish(ReachabilityUpdate)
    }

    private enum State: Sendable {
        case stopped
        case running(Running)
    }

    private struct Running: Sendable {
        var status: ReachabilityStatus?
        var path = ReachabilityPath()
        var history = PathHistory()
        var damping: UpDamping
        var resync: Backoff
        var retry: Backoff
        var lastEvaluation: MonotonicInstant?
        var lastEvent: MonotonicInstant?
        var lastResync: MonotonicInstant?
        /// Nanoseconds between two evaluations while events keep coming.
        var pace: Int64
        var deadlines = Deadlines()
    }

    /// The instants at which the kernel is asked again, by what they are for.
    private struct Deadlines: Sendable {
        var evaluation: MonotonicInstant?
        var resync: MonotonicInstant?
        var loss: MonotonicInstant?
        var gain: MonotonicInstant?
        var expiry: MonotonicInstant?
        var safety: MonotonicInstant?

        var next: MonotonicInstant? {
            var earliest: MonotonicInstant?
            for candidate in [evaluation, resync, loss, gain, expiry, safety] {
                guard let candidate else { continue }
                earliest = min(earliest ?? candidate, candidate)
            }
            return earliest
        }

        mutating func evaluate(at instant: MonotonicInstant) {
            evaluation = min(evaluation ?? instant, instant)
        }
    }

    // A driver's wireless events come by the hundred while it scans.
    private static let noiseWindow: Int64 = 100_000_000
    // Of the CPU, an evaluation never takes more than one part in so many.
    private static let breath: Int64 = 10
    private static let shortestBreath: Int64 = 20_000_000
    private static let longestBreath: Int64 = 500_000_000
    // The kernel rounds a route's lifetime to hundredths of a second.
    private static let expirySlack: Int64 = 20_000_000

    private let timing: ReachabilityTiming
    private let nanoseconds: TimingNanoseconds
    /// Nanoseconds until the kernel is asked again though nothing happened; nil for never.
    private var recheck: Int64?
    private var state: State = .stopped

    package init(timing: ReachabilityTiming) {
        self.timing = timing
        nanoseconds = TimingNanoseconds(timing)
        recheck = nanoseconds.recheck(under: [])
    }

    /// When ``deadlineReached(at:)`` wants to be called; nil for never.
    package var nextDeadline: MonotonicInstant? {
        guard case .running(let running) = state else { return nil }
        return running.deadlines.next
    }

    /// Whether nothing is pending but re-checks far ahead: what has been told is how things are.
    package var isSettled: Bool {
        guard case .running(let running) = state else { return true }
        let deadlines = running.deadlines
        return deadlines.evaluation == nil && deadlines.resync == nil && deadlines.loss == nil
            && deadlines.gain == nil
    }

    /// Monitoring starts: the kernel is to be asked now.
    ///
    /// A machine that runs starts afresh.
    package mutating func started() {
        state = .running(
            Running(
                damping: UpDamping(timing),
                resync: Backoff(first: timing.resyncBackoff, limit: timing.resyncBackoffLimit),
                retry: Backoff(first: timing.resyncBackoff, limit: timing.resyncBackoffLimit),
                pace: nanoseconds.evaluationInterval))
    }

    /// Monitoring ends: nothing more comes out.
    package mutating func stopped() { state = .stopped }

    /// What the events lack from now on: the less is told, the sooner the kernel is asked again.
    package mutating func limited(by limitations: MonitorLimitations) {
        recheck = nanoseconds.recheck(under: limitations)
        guard case .running(var running) = state, let last = running.lastEvaluation else { return }
        running.deadlines.safety = recheck.map { last.advanced(by: $0) }
        state = .running(running)
    }

    /// Something happened to the network.
    package mutating func observed(_ event: NetworkEvent, at now: MonotonicInstant) -> Reaction {
        guard case .running(var running) = exchange(&state, with: .stopped) else { return .ignore }
        defer { state = .running(running) }
        switch event {
        case .linkChanged(_, isWirelessNoise: true):
            running.deadlines.evaluate(at: now.advanced(by: Self.noiseWindow))
            return .wait
        case .resumed:
            running.history.resumed()
            return .evaluate
        case .requested, .destinationsChanged: return .evaluate
        case .overrun, .reopened: return resync(&running, at: now)
        default: break
        }
        let isFirst = running.lastEvent.map { now.nanoseconds(since: $0) >= nanoseconds.burstGap } ?? true
        running.lastEvent = now
        guard let last = running.lastEvaluation else { return .evaluate }
        let earliest = last.advanced(by: running.pace)
        if earliest <= now || isFirst && running.pace == nanoseconds.evaluationInterval { return .evaluate }
        running.deadlines.evaluate(at: earliest)
        return .wait
    }

    /// After lost events: at once, but in a storm of losses only when the back-off allows it.
    private func resync(_ running: inout Running, at now: MonotonicInstant) -> Reaction {
        if running.deadlines.resync != nil { return .wait }
        if let last = running.lastResync, now - last < timing.resyncBackoffLimit * 2 {
            running.deadlines.resync = max(now, last + running.resync.pause())
        } else {
            running.resync.reset()
            running.deadlines.resync = now
        }
        if running.deadlines.resync == now {
            running.deadlines.resync = nil
            running.lastResync = now
            return .evaluate
        }
        return .wait
    }

    /// A deadline has come.
    package mutating func deadlineReached(at now: MonotonicInstant) -> Due {
        guard case .running(var running) = exchange(&state, with: .stopped) else { return .nothing }
        defer { state = .running(running) }
        guard let next = running.deadlines.next, next <= now else { return .nothing }
        var afresh = false
        if let resync = running.deadlines.resync, resync <= now {
            running.deadlines.resync = nil
            running.lastResync = now
            afresh = true
        }
        if let safety = running.deadlines.safety, safety <= now { afresh = true }
        return .evaluate(afresh: afresh)
    }

    /// The kernel was asked: this is the path.
    ///
    /// It took `took` nanoseconds, and the path holds for `expires` at most.
    package mutating func evaluated(
        _ path: ReachabilityPath, expires: Duration? = nil, took: Int64 = 0, at now: MonotonicInstant
    ) -> Verdict {
        guard case .running(var running) = exchange(&state, with: .stopped) else { return .ignore }
        defer { state = .running(running) }
        settle(&running, took: took, expires: expires, at: now)
        running.retry.reset()
        var path = path
        running.history.number(&path)
        if path.isOnline != running.path.isOnline { running.damping.flapped(at: now) }
        let differs = path.differs(from: running.path)
        running.path = path
        guard let status = running.status else {
            running.status = path.instantStatus
            return .publish(
                ReachabilityUpdate(event: .initial, status: path.instantStatus, previous: nil, path: path))
        }
        if let next = commit(path.instantStatus, over: status, &running, at: now) {
            running.status = next
            return .publish(ReachabilityUpdate(event: .status, status: next, previous: status, path: path))
        }
        guard differs else { return .refresh(path) }
        return .publish(ReachabilityUpdate(event: .path, status: status, previous: status, path: path))
    }

    /// The kernel did not answer: the last status stays, marked stale, and the question is put again later.
    package mutating func evaluationFailed(
        _ error: ReachabilityError, at now: MonotonicInstant
    ) -> Verdict {
        guard case .running(var running) = exchange(&state, with: .stopped) else { return .ignore }
        defer { state = .running(running) }
        settle(&running, took: 0, expires: nil, at: now)
        running.deadlines.evaluate(at: now + running.retry.pause())
        running.path.isStale = true
        guard running.status == nil else { return .refresh(running.path) }
        running.status = .unknown
        running.path.reason = ReachabilityReason(.kernelRefused, sentence: error.description)
        return .publish(
            ReachabilityUpdate(event: .initial, status: .unknown, previous: nil, path: running.path))
    }

    /// The kernel was asked, but nothing can be said yet: a name is still being resolved.
    package mutating func evaluationPostponed(took: Int64 = 0, at now: MonotonicInstant) {
        guard case .running(var running) = exchange(&state, with: .stopped) else { return }
        settle(&running, took: took, expires: nil, at: now)
        running.deadlines.loss = nil
        running.deadlines.gain = nil
        state = .running(running)
    }

    private func settle(
        _ running: inout Running, took: Int64, expires: Duration?, at now: MonotonicInstant
    ) {
        running.lastEvaluation = now
        // Being pushed aside by other programs for a moment does not make an evaluation expensive.
        let breath = min(max(took, 0), Self.longestBreath) * Self.breath
        running.pace = max(
            nanoseconds.evaluationInterval,
            breath > Self.shortestBreath ? min(breath, Self.longestBreath) : 0)
        running.deadlines.evaluation = nil
        if let expires {
            running.deadlines.expiry = now.advanced(
                by: max(expires.inNanoseconds, Self.expirySlack) &+ Self.expirySlack)
        } else if let expiry = running.deadlines.expiry,
            expiry <= now || now.advanced(by: 2 &* Self.expirySlack) < expiry
        {
            // Shortly before it expires a route says what one without end says: that deadline stays.
            running.deadlines.expiry = nil
        }
        running.deadlines.safety = recheck.map { now.advanced(by: $0) }
    }

    /// The status to commit, if it is time; sets and clears the deadlines of grace and damping.
    private func commit(
        _ target: ReachabilityStatus, over status: ReachabilityStatus, _ running: inout Running,
        at now: MonotonicInstant
    ) -> ReachabilityStatus? {
        if target != .unreachable { running.deadlines.loss = nil }
        if target == .unreachable || target == status { running.deadlines.gain = nil }
        switch (status, target) {
        case _ where status == target:
            running.deadlines.loss = nil
            return nil
        case (.wifi, .unreachable), (.wired, .unreachable):
            let deadline = running.deadlines.loss ?? now.advanced(by: nanoseconds.lossGrace)
            guard deadline <= now else {
                running.deadlines.loss = deadline
                return nil
            }
            running.deadlines.loss = nil
            return target
        case (.unreachable, .wifi), (.unreachable, .wired):
            if running.deadlines.gain == nil, let hold = running.damping.holdForReturn(at: now) {
                running.deadlines.gain = now + hold
            }
            if let deadline = running.deadlines.gain, deadline > now { return nil }
            running.deadlines.gain = nil
            running.damping.returned(at: now)
            return target
        default: return target  // Wi-Fi to wired and back, and whatever was unknown: at once.
        }
    }
}
