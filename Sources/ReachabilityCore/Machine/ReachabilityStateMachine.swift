// SPDX-License-Identifier: Apache-2.0

/// Decides when to ask the kernel and what to publish: from events and evaluations to statuses.
///
/// A gain is published at once, a loss at once as a path and after the grace as a status, so cable bounces
/// and hand-overs never show as `unreachable`. Time goes in as an instant and out as ``nextDeadline``.
package struct ReachabilityStateMachine: ~Copyable, Sendable {
    /// What follows from an event.
    package enum EventAction: Sendable, Equatable {
        case ignore
        /// Ask the kernel now.
        case evaluate
        /// Ask the kernel when ``nextDeadline`` has come.
        case wait
    }

    /// What follows from a deadline.
    package enum DeadlineAction: Sendable, Equatable {
        /// The deadline was overtaken.
        case nothing
        /// Ask the kernel; `afresh` also for cached answers about links and addresses.
        case evaluate(afresh: Bool)
    }

    /// What follows from an evaluation.
    package enum EvaluationAction: Sendable, Equatable {
        /// Monitoring was stopped meanwhile.
        case ignore
        /// Store this path; observers are not notified.
        case refresh(ReachabilityPath)
        /// Notify the observers.
        case publish(ReachabilityUpdate)
    }

    private enum Phase: Sendable {
        /// Monitoring has not started, or was stopped.
        case stopped
        /// Monitoring runs, and no status was published yet.
        case starting
        /// The status published last.
        case published(ReachabilityStatus)
    }

    // The kernel rounds a route's lifetime to hundredths of a second.
    private static let expirySlack: Int64 = 20_000_000

    private let timing: ReachabilityTiming
    private let nanoseconds: TimingNanoseconds
    /// Nanoseconds until the kernel is asked again without an event; nil for never.
    private var recheck: Int64?
    private var phase = Phase.stopped
    private var path = ReachabilityPath()
    private var history = PathHistory()
    private var damping: FlapDamping
    private var pace: EvaluationPace
    private var resyncDelay: Backoff
    private var lastResync: MonotonicInstant?
    private var retryDelay: Backoff
    private var confirmations = ConfirmationSchedule()
    private var deadlines = Deadlines()
    /// Evaluations since the start that were caused by lost events.
    package private(set) var resyncs: UInt64 = 0

    package init(timing: ReachabilityTiming) {
        let nanoseconds = TimingNanoseconds(timing)
        self.init(timing, nanoseconds, recheck: nanoseconds.recheck(under: []), phase: .stopped)
    }

    private init(
        _ timing: ReachabilityTiming, _ nanoseconds: TimingNanoseconds, recheck: Int64?, phase: Phase
    ) {
        self.timing = timing
        self.nanoseconds = nanoseconds
        self.recheck = recheck
        self.phase = phase
        damping = FlapDamping(timing)
        pace = EvaluationPace(nanoseconds)
        resyncDelay = Backoff(first: timing.resyncBackoff, limit: timing.resyncBackoffLimit)
        retryDelay = Backoff(first: timing.resyncBackoff, limit: timing.resyncBackoffLimit)
    }

    private var isRunning: Bool { if case .stopped = phase { false } else { true } }

    /// When to call ``deadlineReached(at:)``; nil for never.
    package var nextDeadline: MonotonicInstant? { deadlines.next }

    /// Whether no evaluation or status change is pending; re-checks do not count.
    package var isSettled: Bool {
        deadlines.evaluation == nil && deadlines.resync == nil && deadlines.loss == nil
            && deadlines.gain == nil
    }

    /// Monitoring starts, and the caller evaluates at once; a running machine begins anew.
    package mutating func started() { self = Self(timing, nanoseconds, recheck: recheck, phase: .starting) }

    /// Monitoring ends; nothing is published any more.
    package mutating func stopped() { self = Self(timing, nanoseconds, recheck: recheck, phase: .stopped) }

    /// The limitations of the event source changed: fewer events mean more frequent re-checks.
    package mutating func limited(by limitations: MonitorLimitations) {
        recheck = nanoseconds.recheck(under: limitations)
        guard let lastEvaluation = pace.lastEvaluation else { return }
        deadlines.safety = recheck.map { lastEvaluation.advanced(by: $0) }
    }

    /// The kernel reported a change.
    package mutating func observed(_ event: NetworkEvent, at now: MonotonicInstant) -> EventAction {
        guard isRunning else { return .ignore }
        confirmations.observed(event, at: now)
        switch event {
        case .linkChanged(_, isWirelessNoise: true):
            deadlines.evaluate(at: now.advanced(by: EvaluationPace.noiseWindow))
            return .wait
        case .resumed:
            history.resumed()
            return .evaluate
        case .requested, .destinationsChanged: return .evaluate
        case .overrun, .reopened: return lostEvents(at: now)
        default: break
        }
        guard let earliest = pace.postponement(ofEventAt: now) else { return .evaluate }
        deadlines.evaluate(at: earliest)
        return .wait
    }

    /// Evaluates at once after lost events, in a storm of losses only as often as the back-off allows.
    private mutating func lostEvents(at now: MonotonicInstant) -> EventAction {
        if deadlines.resync != nil { return .wait }
        if let lastResync, now - lastResync < timing.resyncBackoffLimit * 2 {
            let earliest = lastResync + resyncDelay.nextDelay()
            if earliest > now {
                deadlines.resync = earliest
                return .wait
            }
        } else {
            resyncDelay.reset()
        }
        resynced(at: now)
        return .evaluate
    }

    private mutating func resynced(at now: MonotonicInstant) {
        deadlines.resync = nil
        lastResync = now
        resyncs += 1
    }

    /// The instant ``nextDeadline`` has come.
    package mutating func deadlineReached(at now: MonotonicInstant) -> DeadlineAction {
        guard let next = deadlines.next, next <= now else { return .nothing }
        var afresh = false
        if let resync = deadlines.resync, resync <= now {
            resynced(at: now)
            afresh = true
        }
        if let safety = deadlines.safety, safety <= now { afresh = true }
        return .evaluate(afresh: afresh)
    }

    /// The kernel answered after `took` nanoseconds with `path`, which holds for `expires` at most.
    package mutating func evaluated(
        _ path: consuming ReachabilityPath, expires: Duration? = nil, took: Int64 = 0,
        at now: MonotonicInstant
    ) -> EvaluationAction {
        guard isRunning else { return .ignore }
        finishEvaluation(took: took, expires: expires, at: now)
        retryDelay.reset()
        history.number(&path)
        if path.isOnline != self.path.isOnline { damping.flapped(at: now) }
        let differs = path.differs(from: self.path)
        self.path = path
        guard case .published(let status) = phase else {
            phase = .published(path.instantStatus)
            return .publish(
                ReachabilityUpdate(event: .initial, status: path.instantStatus, previous: nil, path: path))
        }
        if let next = commit(path.instantStatus, over: status, at: now) {
            phase = .published(next)
            return .publish(ReachabilityUpdate(event: .status, status: next, previous: status, path: path))
        }
        guard differs else { return .refresh(path) }
        return .publish(ReachabilityUpdate(event: .path, status: status, previous: status, path: path))
    }

    /// The kernel did not answer: the last status stays, marked stale, and a later evaluation is scheduled.
    package mutating func evaluationFailed(
        _ error: ReachabilityError, at now: MonotonicInstant
    ) -> EvaluationAction {
        guard isRunning else { return .ignore }
        finishEvaluation(took: 0, expires: nil, at: now)
        deadlines.postpone(to: now + retryDelay.nextDelay())
        path.isStale = true
        guard case .starting = phase else { return .refresh(path) }
        phase = .published(.unknown)
        path.reason = ReachabilityReason(.kernelRefused, sentence: error.description)
        return .publish(ReachabilityUpdate(event: .initial, status: .unknown, previous: nil, path: path))
    }

    /// The kernel answered, but a name is still being resolved, so there is no path to report.
    package mutating func evaluationPostponed(took: Int64 = 0, at now: MonotonicInstant) {
        guard isRunning else { return }
        finishEvaluation(took: took, expires: nil, at: now)
        deadlines.loss = nil
        deadlines.gain = nil
    }

    private mutating func finishEvaluation(took: Int64, expires: Duration?, at now: MonotonicInstant) {
        pace.evaluated(at: now, took: took)
        deadlines.evaluation = nil
        let asked = now.advanced(by: 0 &- max(took, 0))
        if case .starting = phase { confirmations.started(at: asked) }
        deadlines.confirmation = confirmations.next(after: asked)
            .map { max($0, pace.nextEvaluation(after: now)) }
        if let expires {
            let lifetime = max(expires.inNanoseconds, Self.expirySlack)
            deadlines.expiry = now.advanced(by: lifetime).advanced(by: Self.expirySlack)
        } else if let expiry = deadlines.expiry,
            expiry <= now || now.advanced(by: 2 &* Self.expirySlack) < expiry
        {
            // Just before a route expires the kernel reports it as permanent; that deadline stays.
            deadlines.expiry = nil
        }
        deadlines.safety = recheck.map { now.advanced(by: $0) }
    }

    /// The status to publish now, if any; sets and clears the deadlines of grace and damping.
    private mutating func commit(
        _ target: ReachabilityStatus, over status: ReachabilityStatus, at now: MonotonicInstant
    ) -> ReachabilityStatus? {
        if target != .unreachable { deadlines.loss = nil }
        if target == .unreachable || target == status { deadlines.gain = nil }
        switch (status, target) {
        case _ where status == target:
            deadlines.loss = nil
            return nil
        case (.wifi, .unreachable), (.wired, .unreachable):
            let deadline = deadlines.loss ?? now.advanced(by: nanoseconds.lossGrace)
            guard deadline <= now else {
                deadlines.loss = deadline
                return nil
            }
            deadlines.loss = nil
            return target
        case (.unreachable, .wifi), (.unreachable, .wired):
            if deadlines.gain == nil, let hold = damping.holdForReturn(at: now) {
                deadlines.gain = now + hold
            }
            if let deadline = deadlines.gain, deadline > now { return nil }
            deadlines.gain = nil
            damping.returned(at: now)
            return target
        default: return target  // Between Wi-Fi and wired, and from unknown: at once.
        }
    }
}

/// The instants of the next evaluations, by their cause.
private struct Deadlines: Sendable {
    /// Postponed events, or a retry after a failure.
    var evaluation: MonotonicInstant?
    /// Lost events.
    var resync: MonotonicInstant?
    /// The end of the grace after a loss.
    var loss: MonotonicInstant?
    /// The end of the damping of a return.
    var gain: MonotonicInstant?
    /// The end of a route's lifetime.
    var expiry: MonotonicInstant?
    /// A re-check after an event that came before its change; the one after lost events includes it.
    var confirmation: MonotonicInstant?
    /// A re-check without an event.
    var safety: MonotonicInstant?

    var next: MonotonicInstant? {
        var earliest = evaluation
        for case let other? in [resync, loss, gain, expiry, resync == nil ? confirmation : nil, safety] {
            earliest = min(earliest ?? other, other)
        }
        return earliest
    }

    mutating func evaluate(at instant: MonotonicInstant) { evaluation = min(evaluation ?? instant, instant) }

    /// The kernel did not answer: deadlines that need an answer wait for the retry.
    mutating func postpone(to instant: MonotonicInstant) {
        evaluation = instant
        loss = loss.map { max($0, instant) }
        gain = gain.map { max($0, instant) }
        confirmation = confirmation.map { max($0, instant) }
    }
}
