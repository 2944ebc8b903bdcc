// SPDX-License-Identifier: Apache-2.0

/// The intervals and delays of monitoring.
///
/// The defaults suit a device in the field; tests use shorter ones.
public struct ReachabilityTiming: Sendable, Equatable {
    /// The time a loss must last before the *status* reports it; the path reports it at once.
    ///
    /// Default 500 ms. It hides cable bounces, roaming and the hand-over from one interface to another.
    public var lossGrace: Duration = .milliseconds(500)
    /// The shortest interval between evaluations while events keep coming; the first event is evaluated at
    /// once, and the last one always.
    ///
    /// Default 10 ms.
    public var evaluationInterval: Duration = .milliseconds(10)
    /// The shortest gap between events that ends a burst.
    ///
    /// Default 1 ms.
    public var burstGap: Duration = .milliseconds(1)
    /// The number of returns from `unreachable` within ``dampingWindow`` that are reported at once.
    ///
    /// Default 4.
    public var dampingThreshold: Int = 4
    /// The window in which returns are counted.
    ///
    /// Default 30 s.
    public var dampingWindow: Duration = .seconds(30)
    /// The time a path must be stable before a further return is reported.
    ///
    /// Default 2 s; doubles each time.
    public var dampingHold: Duration = .seconds(2)
    /// The limit of the doubled hold.
    ///
    /// Default 30 s.
    public var dampingHoldLimit: Duration = .seconds(30)
    /// The time without a change of status after which the damping is reset.
    ///
    /// Default 60 s.
    public var dampingReset: Duration = .seconds(60)
    /// The first interval between re-evaluations after lost events.
    ///
    /// Default 250 ms; doubles each time.
    public var resyncBackoff: Duration = .milliseconds(250)
    /// The limit of that interval.
    ///
    /// Default 5 s.
    public var resyncBackoffLimit: Duration = .seconds(5)
    /// The interval of evaluations without an event; nil for never.
    ///
    /// Default 300 s.
    public var safetyInterval: Duration? = .seconds(300)
    /// The same if the kernel does not report every change (``MonitorLimitations/partialEvents``), if
    /// shorter; nil for ``safetyInterval`` alone.
    ///
    /// Default 60 s.
    public var partialSafetyInterval: Duration? = .seconds(60)
    /// The same if the kernel reports no changes at all (``MonitorLimitations/noEvents``).
    ///
    /// Default 10 s.
    public var pollInterval: Duration? = .seconds(10)
    /// A sleep of the machine longer than this invalidates earlier connections.
    ///
    /// Default 2 s.
    public var resumeThreshold: Duration = .seconds(2)

    /// The defaults.
    public init() {}
}
