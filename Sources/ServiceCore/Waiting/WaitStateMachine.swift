// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore
import SessionCore

/// The times of a wait.
package struct WaitLimits: Sendable, Hashable {
    /// How long the condition has to hold without interruption.
    package var stable: Duration
    /// When the wait ends unmet; nil for never.
    package var timeout: Duration?
    /// How long no considered link may have a carrier; nil for ever.
    package var noCarrier: Duration?

    package init(stable: Duration = .zero, timeout: Duration? = nil, noCarrier: Duration? = nil) {
        self.stable = stable
        self.timeout = timeout
        self.noCarrier = noCarrier
    }
}

/// Whether the condition has held for long enough.
package struct WaitProgress: Sendable {
    private let stable: Duration
    private var held: (since: MonotonicInstant, interface: String)?

    package init(stable: Duration) { self.stable = stable }

    /// Records the current match.
    ///
    /// Another interface restarts the time, as an interruption does.
    package mutating func observe(_ match: String?, at now: MonotonicInstant) {
        guard let match else {
            held = nil
            return
        }
        if held?.interface != match { held = (now, match) }
    }

    /// The interface through which it holds; nil while it does not hold.
    package var interface: String? { held?.interface }

    /// When it will have held for long enough; nil while it does not hold.
    package var deadline: MonotonicInstant? { held.map { $0.since + stable } }

    /// Whether the condition has held for long enough.
    package func isMet(at now: MonotonicInstant) -> Bool { deadline.map { $0 <= now } ?? false }
}

/// A wait for a condition: reports go in, a deadline and the end come out.
package struct WaitStateMachine: Sendable {
    /// How a wait ends.
    package enum End: Sendable, Hashable {
        case met
        /// No considered link has had a carrier for ``WaitLimits/noCarrier``.
        case noCarrier
        case timedOut
    }

    package let condition: WaitCondition
    package let limits: WaitLimits
    private let limit: MonotonicInstant?
    private var progress: WaitProgress
    /// Since when no considered link has a carrier; nil while one has, or before the first report.
    private var carrierless: MonotonicInstant?
    private var generation: UInt64?
    /// The interfaces of the path in use and of the one before.
    private var interface: String?
    private var formerInterface: String?
    /// Whether the state of the internet is that of a former path.
    private var isInternetStale = false

    package init(_ condition: WaitCondition, _ limits: WaitLimits, at now: MonotonicInstant) {
        self.condition = condition
        self.limits = limits
        limit = limits.timeout.map { now + $0 }
        progress = WaitProgress(stable: limits.stable)
    }

    /// Whether links are evaluated with each event: their paths and carriers change without an update.
    package var readsLinks: Bool { condition.readsLinks || limits.noCarrier != nil }

    /// Records the present state.
    package mutating func observe(_ report: Report, at now: MonotonicInstant) {
        var report = report
        // A new path is told before the probe has taken its state back.
        if let generation, generation != report.path.generation {
            isInternetStale = true
            formerInterface = interface
        }
        (generation, interface) = (report.path.generation, report.path.interface)
        // What it knows of the uplink that the kernel has turned to is no state of the former path.
        let asked = report.uplinks.first { $0.isPreferred }?.interface
        let hasTurned = asked != nil && asked == interface && asked != formerInterface
        if report.internet != .full || hasTurned { isInternetStale = false }
        if isInternetStale { report.internet = .unknown }
        progress.observe(condition.match(report, holding: progress.interface), at: now)
        carrierless = CarrierRules.hasCarrier(report.links, condition) ? nil : carrierless ?? now
    }

    /// The interfaces through which the condition holds.
    package var interfaces: [String] { progress.interface?.split(separator: " ").map(String.init) ?? [] }

    private var carrierLimit: MonotonicInstant? {
        guard let carrierless, let allowed = limits.noCarrier else { return nil }
        return carrierless + allowed
    }

    /// When ``end(at:)`` has to be asked again, unless a report comes before; nil for never.
    package var deadline: MonotonicInstant? {
        [progress.deadline, carrierLimit, limit].compactMap { $0 }.min()
    }

    /// How the wait has ended; nil while it goes on.
    package func end(at now: MonotonicInstant) -> End? {
        if progress.isMet(at: now) { return .met }
        if let carrierLimit, carrierLimit <= now { return .noCarrier }
        if let limit, limit <= now { return .timedOut }
        return nil
    }
}
