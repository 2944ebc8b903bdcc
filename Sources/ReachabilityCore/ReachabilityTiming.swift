// SPDX-License-Identifier: Apache-2.0

/// The times after which things happen.
///
/// The defaults suit a device in the field; tests shorten them.
public struct ReachabilityTiming: Sendable, Equatable {
    /// How long a loss has to last before the *status* says so.
    ///
    /// Default 500 ms; the path says so at once.
    ///
    /// It hides cable bounces, roaming and the hand-over from one interface to another.
    public var lossGrace: Duration = .milliseconds(500)
    /// While events keep coming the kernel is asked at most this often.
    ///
    /// Default 10 ms; the first event counts at once and the last one always.
    public var evaluationInterval: Duration = .milliseconds(10)
    /// Events are said to keep coming while less than this lies between them.
    ///
    /// Default 1 ms.
    public var burstGap: Duration = .milliseconds(1)
    /// So many returns from `unreachable` within ``dampingWindow`` are reported at once.
    ///
    /// Default 4.
    public var dampingThreshold: Int = 4
    /// The window in which returns are counted.
    ///
    /// Default 30 s.
    public var dampingWindow: Duration = .seconds(30)
    /// How long a path must be stable before a further return is reported.
    ///
    /// Default 2 s; doubles each time.
    public var dampingHold: Duration = .seconds(2)
    /// The most that the hold grows to.
    ///
    /// Default 30 s.
    public var dampingHoldLimit: Duration = .seconds(30)
    /// After so long without a change of status the damping starts afresh.
    ///
    /// Default 60 s.
    public var dampingReset: Duration = .seconds(60)
    /// The first pause between two re-evaluations after lost events.
    ///
    /// Default 250 ms; doubles each time.
    public var resyncBackoff: Duration = .milliseconds(250)
    /// The most that this pause grows to.
    ///
    /// Default 5 s.
    public var resyncBackoffLimit: Duration = .seconds(5)
    /// The kernel is asked again after so long even when nothing happened; nil for never.
    ///
    /// Default 300 s.
    public var safetyInterval: Duration? = .seconds(300)
    /// The same where the kernel does not tell of every change (``MonitorLimitations/partialEvents``), if that is
    /// shorter; nil for ``safetyInterval`` alone.
    ///
    /// Default 60 s.
    public var partialSafetyInterval: Duration? = .seconds(60)
    /// The same where the kernel tells of no change at all (``MonitorLimitations/noEvents``).
    ///
    /// Default 10 s.
    public var pollInterval: Duration? = .seconds(10)
    /// A sleep of the machine longer than this counts as a new start for connections.
    ///
    /// Default 2 s.
    public var resumeThreshold: Duration = .seconds(2)

    /// The defaults.
    public init() {}
}
