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

    private let timing: ReachabilityTiming
    private let nanoseconds: TimingNanoseconds
    /// Nanoseconds until the kernel is asked again though nothing happened; nil for never.
    private var recheck: Int64?
    /// Nil while monitoring has not started.
    private var watch: NetworkWatch?

    package init(timing: ReachabilityTiming) {
        self.timing = timing
        nanoseconds = TimingNanoseconds(timing)
        recheck = nanoseconds.recheck(under: [])
    }

    /// When ``deadlineReached(at:)`` wants to be called; nil for never.
    package var nextDeadline: MonotonicInstant? { watch?.nextDeadline }

    /// Whether nothing is pending but re-checks far ahead: what has been told is how things are.
    package var isSettled: Bool { watch?.isSettled ?? true }

    /// How often lost events led to a look since the start.
    package var resyncs: UInt64 { watch?.resyncs ?? 0 }

    /// Monitoring starts: the kernel is to be asked now.
    ///
    /// A machine that runs starts afresh.
    package mutating func started() { watch = NetworkWatch(timing, nanoseconds, recheck: recheck) }

    /// Monitoring ends: nothing more comes out.
    package mutating func stopped() { watch = nil }

    /// What the events lack from now on: the less is told, the sooner the kernel is asked again.
    package mutating func limited(by limitations: MonitorLimitations) {
        recheck = nanoseconds.recheck(under: limitations)
        watch?.rechecked(after: recheck)
    }

    /// Something happened to the network.
    package mutating func observed(_ event: NetworkEvent, at now: MonotonicInstant) -> Reaction {
        watch?.observed(event, at: now) ?? .ignore
    }

    /// A deadline has come.
    package mutating func deadlineReached(at now: MonotonicInstant) -> Due {
        watch?.deadlineReached(at: now) ?? .nothing
    }

    /// The kernel was asked: this is the path.
    ///
    /// It took `took` nanoseconds, and the path holds for `expires` at most.
    package mutating func evaluated(
        _ path: consuming ReachabilityPath, expires: Duration? = nil, took: Int64 = 0,
        at now: MonotonicInstant
    ) -> Verdict {
        watch?.evaluated(path, expires: expires, took: took, at: now) ?? .ignore
    }

    /// The kernel did not answer: the last status stays, marked stale, and the question is put again later.
    package mutating func evaluationFailed(
        _ error: ReachabilityError, at now: MonotonicInstant
    ) -> Verdict {
        watch?.evaluationFailed(error, at: now) ?? .ignore
    }

    /// The kernel was asked, but nothing can be said yet: a name is still being resolved.
    package mutating func evaluationPostponed(took: Int64 = 0, at now: MonotonicInstant) {
        watch?.evaluationPostponed(took: took, at: now)
    }
}
