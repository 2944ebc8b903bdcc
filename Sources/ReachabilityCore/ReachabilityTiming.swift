// SPDX-License-Identifier: Apache-2.0

/// The intervals and delays of monitoring; the defaults suit a device in the field, tests use shorter ones.
public struct ReachabilityTiming: Sendable, Equatable {
    /// The time a loss must last before the *status* reports it, default 500 ms; the path reports it at once.
    ///
    /// It hides cable bounces, roaming and the hand-over from one interface to another.
    public var lossGrace: Duration = .milliseconds(500)
    /// The shortest interval between evaluations while events keep coming, default 10 ms; the first event is
    /// evaluated at once, and the last one always.
    public var evaluationInterval: Duration = .milliseconds(10)
    /// The shortest gap between events that ends a burst; default 1 ms.
    public var burstGap: Duration = .milliseconds(1)
    /// How many returns from `unreachable` within ``dampingWindow`` are reported at once; default 4.
    public var dampingThreshold: Int = 4
    /// The window in which returns are counted; default 30 s.
    public var dampingWindow: Duration = .seconds(30)
    /// The time a path must be stable before a further return is reported; default 2 s, doubles each time.
    public var dampingHold: Duration = .seconds(2)
    /// The limit of the doubled hold; default 30 s.
    public var dampingHoldLimit: Duration = .seconds(30)
    /// The time without a change of status after which the damping is reset; default 60 s.
    public var dampingReset: Duration = .seconds(60)
    /// The first interval between re-evaluations after lost events; default 250 ms, doubles each time.
    public var resyncBackoff: Duration = .milliseconds(250)
    /// The limit of that interval; default 5 s.
    public var resyncBackoffLimit: Duration = .seconds(5)
    /// The interval of evaluations without an event, default 300 s; nil for never.
    public var safetyInterval: Duration? = .seconds(300)
    /// The same if the kernel does not report every change (``MonitorLimitations/partialEvents``), if less;
    /// default 60 s, nil for ``safetyInterval`` alone.
    public var partialSafetyInterval: Duration? = .seconds(60)
    /// The same if the kernel reports no changes at all (``MonitorLimitations/noEvents``); default 10 s.
    public var pollInterval: Duration? = .seconds(10)
    /// A sleep of the machine longer than this invalidates earlier connections; default 2 s.
    public var resumeThreshold: Duration = .seconds(2)

    /// The defaults.
    public init() {}
}
