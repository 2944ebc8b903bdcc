// SPDX-License-Identifier: Apache-2.0

/// The times that the machine compares at every event, as plain numbers of nanoseconds.
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

    /// After how long the kernel is asked again though nothing happened; nil for never.
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
