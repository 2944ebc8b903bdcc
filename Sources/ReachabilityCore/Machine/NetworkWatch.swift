// SPDX-License-Identifier: Apache-2.0

/// What ``ReachabilityStateMachine`` knows and decides while monitoring runs.
///
/// Changed in its place: it holds a path and more, and moving it in and out cost as much as what is decided.
struct NetworkWatch: Sendable {
    typealias Reaction = ReachabilityStateMachine.Reaction
    typealias Due = ReachabilityStateMachine.Due
    typealias Verdict = ReachabilityStateMachine.Verdict

    /// The instants at which the kernel is asked again, by what they are for.
    private struct Deadlines: Sendable {
        var evaluation: MonotonicInstant?
        var resync: MonotonicInstant?
        var loss: MonotonicInstant?
        var gain: MonotonicInstant?
        var expiry: MonotonicInstant?
        var safety: MonotonicInstant?

        var next: MonotonicInstant? {
            var earliest = evaluation
            func consider(_ candidate: MonotonicInstant?) {
                guard let candidate else { return }
                earliest = min(earliest ?? candidate, candidate)
            }
            consider(resync)
            consider(loss)
            consider(gain)
            consider(expiry)
            consider(safety)
            return earliest
        }

        mutating func evaluate(at instant: MonotonicInstant) {
            evaluation = min(evaluation ?? instant, instant)
        }

        /// The kernel gave no answer: what waits for one waits until it is asked again.
        mutating func postpone(to instant: MonotonicInstant) {
            evaluation = instant
            loss = loss.map { max($0, instant) }
            gain = gain.map { max($0, instant) }
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
    private var status: ReachabilityStatus?
    private var path = ReachabilityPath()
    private var history = PathHistory()
    private var damping: UpDamping
    private var resync: Backoff
    private var retry: Backoff
    private var lastEvaluation: MonotonicInstant?
    private var lastEvent: MonotonicInstant?
    private var lastResync: MonotonicInstant?
    /// Nanoseconds between two evaluations while events keep coming.
    private var pace: Int64
    private var deadlines = Deadlines()
    /// How often lost events led to a look.
    private(set) var resyncs: UInt64 = 0

    init(_ timing: ReachabilityTiming, _ nanoseconds: TimingNanoseconds, recheck: Int64?) {
        self.timing = timing
        self.nanoseconds = nanoseconds
        self.recheck = recheck
        damping = UpDamping(timing)
        resync = Backoff(first: timing.resyncBackoff, limit: timing.resyncBackoffLimit)
        retry = Backoff(first: timing.resyncBackoff, limit: timing.resyncBackoffLimit)
        pace = nanoseconds.evaluationInterval
    }

    var nextDeadline: MonotonicInstant? { deadlines.next }

    var isSettled: Bool {
        deadlines.evaluation == nil && deadlines.resync == nil && deadlines.loss == nil
            && deadlines.gain == nil
    }

    /// From now on the kernel is asked again after so many nanoseconds without a reason.
    mutating func rechecked(after recheck: Int64?) {
        self.recheck = recheck
        guard let lastEvaluation else { return }
        deadlines.safety = recheck.map { lastEvaluation.advanced(by: $0) }
    }

    mutating func observed(_ event: NetworkEvent, at now: MonotonicInstant) -> Reaction {
        switch event {
        case .linkChanged(_, isWirelessNoise: true):
            deadlines.evaluate(at: now.advanced(by: Self.noiseWindow))
            return .wait
        case .resumed:
            history.resumed()
            return .evaluate
        case .requested, .destinationsChanged: return .evaluate
        case .overrun, .reopened: return lost(at: now)
        default: break
        }
        let isFirst = lastEvent.map { now.nanoseconds(since: $0) >= nanoseconds.burstGap } ?? true
        lastEvent = now
        guard let lastEvaluation else { return .evaluate }
        let earliest = lastEvaluation.advanced(by: pace)
        if earliest <= now || isFirst && pace == nanoseconds.evaluationInterval { return .evaluate }
        deadlines.evaluate(at: earliest)
        return .wait
    }

    /// After lost events: at once, but in a storm of losses only when the back-off allows it.
    private mutating func lost(at now: MonotonicInstant) -> Reaction {
        if deadlines.resync != nil { return .wait }
        if let lastResync, now - lastResync < timing.resyncBackoffLimit * 2 {
            deadlines.resync = max(now, lastResync + resync.pause())
        } else {
            resync.reset()
            deadlines.resync = now
        }
        guard deadlines.resync == now else { return .wait }
        deadlines.resync = nil
        lastResync = now
        resyncs += 1
        return .evaluate
    }

    mutating func deadlineReached(at now: MonotonicInstant) -> Due {
        guard let next = deadlines.next, next <= now else { return .nothing }
        var afresh = false
        if let due = deadlines.resync, due <= now {
            deadlines.resync = nil
            lastResync = now
            resyncs += 1
            afresh = true
        }
        if let safety = deadlines.safety, safety <= now { afresh = true }
        return .evaluate(afresh: afresh)
    }

    mutating func evaluated(
        _ path: consuming ReachabilityPath, expires: Duration?, took: Int64, at now: MonotonicInstant
    ) -> Verdict {
        settle(took: took, expires: expires, at: now)
        retry.reset()
        history.number(&path)
        if path.isOnline != self.path.isOnline { damping.flapped(at: now) }
        let differs = path.differs(from: self.path)
        self.path = path
        guard let status else {
            self.status = path.instantStatus
            return .publish(
                ReachabilityUpdate(event: .initial, status: path.instantStatus, previous: nil, path: path))
        }
        if let next = commit(path.instantStatus, over: status, at: now) {
            self.status = next
            return .publish(ReachabilityUpdate(event: .status, status: next, previous: status, path: path))
        }
        guard differs else { return .refresh(path) }
        return .publish(ReachabilityUpdate(event: .path, status: status, previous: status, path: path))
    }

    mutating func evaluationFailed(_ error: ReachabilityError, at now: MonotonicInstant) -> Verdict {
        settle(took: 0, expires: nil, at: now)
        deadlines.postpone(to: now + retry.pause())
        path.isStale = true
        guard status == nil else { return .refresh(path) }
        status = .unknown
        path.reason = ReachabilityReason(.kernelRefused, sentence: error.description)
        return .publish(ReachabilityUpdate(event: .initial, status: .unknown, previous: nil, path: path))
    }

    mutating func evaluationPostponed(took: Int64, at now: MonotonicInstant) {
        settle(took: took, expires: nil, at: now)
        deadlines.loss = nil
        deadlines.gain = nil
    }

    private mutating func settle(took: Int64, expires: Duration?, at now: MonotonicInstant) {
        lastEvaluation = now
        // Being pushed aside by other programs for a moment does not make an evaluation expensive.
        let breath = min(max(took, 0), Self.longestBreath) * Self.breath
        pace = max(
            nanoseconds.evaluationInterval,
            breath > Self.shortestBreath ? min(breath, Self.longestBreath) : 0)
        deadlines.evaluation = nil
        if let expires {
            deadlines.expiry = now.advanced(
                by: max(expires.inNanoseconds, Self.expirySlack)
            ).advanced(by: Self.expirySlack)
        } else if let expiry = deadlines.expiry,
            expiry <= now || now.advanced(by: 2 &* Self.expirySlack) < expiry
        {
            // Shortly before it expires a route says what one without end says: that deadline stays.
            deadlines.expiry = nil
        }
        deadlines.safety = recheck.map { now.advanced(by: $0) }
    }

    /// The status to commit, if it is time; sets and clears the deadlines of grace and damping.
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
        default: return target  // Wi-Fi to wired and back, and whatever was unknown: at once.
        }
    }
}
