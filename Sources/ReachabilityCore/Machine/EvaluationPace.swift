// SPDX-License-Identifier: Apache-2.0

/// Spaces out evaluations while events keep coming: the first event of a burst is evaluated at once, unless
/// the last evaluation was slow.
struct EvaluationPace: Sendable {
    /// Drivers send hundreds of wireless events during a scan; one evaluation after them is enough.
    static let noiseWindow: Int64 = 100_000_000
    // While events keep coming, evaluations of up to 50 ms take at most one part in ten of the CPU.
    private static let evaluationDutyCycle: Int64 = 10
    // An evaluation of less than 2 ms does not change the spacing of the timing.
    private static let shortestSpacing: Int64 = 20_000_000
    // The limit of the spacing.
    private static let longestSpacing: Int64 = 500_000_000

    private let timing: TimingNanoseconds
    private(set) var lastEvaluation: MonotonicInstant?
    private var lastEvent: MonotonicInstant?
    /// Nanoseconds between two evaluations while events keep coming.
    private var spacing: Int64
    /// The duration of the evaluation before.
    private var lastDuration: Int64 = 0

    init(_ timing: TimingNanoseconds) {
        self.timing = timing
        spacing = timing.evaluationInterval
    }

    /// When to evaluate after an event; nil for at once.
    mutating func postponement(ofEventAt now: MonotonicInstant) -> MonotonicInstant? {
        let isFirst = lastEvent.map { now.nanoseconds(since: $0) >= timing.burstGap } ?? true
        lastEvent = now
        guard let lastEvaluation else { return nil }
        let earliest = lastEvaluation.advanced(by: spacing)
        return earliest <= now || isFirst && spacing == timing.evaluationInterval ? nil : earliest
    }

    /// When to evaluate without an event, after an evaluation that ended `now`.
    func nextEvaluation(after now: MonotonicInstant) -> MonotonicInstant { now.advanced(by: spacing) }

    /// An evaluation ended; `took` is its duration in nanoseconds.
    ///
    /// The shorter of two in a row counts: one alone may have been preempted.
    mutating func evaluated(at now: MonotonicInstant, took: Int64) {
        lastEvaluation = now
        // Limited before the multiplication, which could overflow.
        let wanted = min(max(min(took, lastDuration), 0), Self.longestSpacing) * Self.evaluationDutyCycle
        lastDuration = took
        spacing = max(
            timing.evaluationInterval,
            wanted > Self.shortestSpacing ? min(wanted, Self.longestSpacing) : 0)
    }
}

/// The times compared with every event, as plain nanoseconds: a `Duration` is a 128-bit number.
struct TimingNanoseconds: Sendable, Equatable {
    let lossGrace: Int64
    let evaluationInterval: Int64
    let burstGap: Int64
    private let safetyInterval: Int64?
    private let partialSafetyInterval: Int64?
    private let pollInterval: Int64?

    init(_ timing: ReachabilityTiming) {
        lossGrace = timing.lossGrace.inNanoseconds
        evaluationInterval = timing.evaluationInterval.inNanoseconds
        burstGap = timing.burstGap.inNanoseconds
        safetyInterval = timing.safetyInterval?.inNanoseconds
        partialSafetyInterval = timing.partialSafetyInterval?.inNanoseconds
        pollInterval = timing.pollInterval?.inNanoseconds
    }

    /// Nanoseconds until the kernel is asked again without an event; nil for never.
    func recheck(under limitations: MonitorLimitations) -> Int64? {
        var interval = safetyInterval
        func shorten(to other: Int64?) {
            guard let other else { return }
            interval = min(interval ?? other, other)
        }
        if limitations.contains(.partialEvents) { shorten(to: partialSafetyInterval) }
        if limitations.contains(.noEvents) { shorten(to: pollInterval) }
        return interval
    }
}
