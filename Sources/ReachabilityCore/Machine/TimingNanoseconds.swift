// SPDX-License-Identifier: Apache-2.0

/// The times that the machine compares at every event, as plain numbers of nanoseconds.
struct TimingNanoseconds: Sendable, Equatable {
    let lossGrace: Int64
    let evaluationInterval: Int64
    let burstGap: Int64
    let safetyInterval: Int64?

    init(_ timing: ReachabilityTiming) {
        lossGrace = timing.lossGrace.inNanoseconds
        evaluationInterval = timing.evaluationInterval.inNanoseconds
        burstGap = timing.burstGap.inNanoseconds
        safetyInterval = timing.safetyInterval?.inNanoseconds
    }
}
