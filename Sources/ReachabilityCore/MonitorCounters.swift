// SPDX-License-Identifier: Apache-2.0

/// Counters since monitoring started, for diagnosis and metrics.
public struct MonitorCounters: Sendable, Equatable {
    /// Events that the kernel sent and the filter passed.
    public package(set) var events: UInt64 = 0
    /// Evaluations that asked the kernel.
    public package(set) var evaluations: UInt64 = 0
    /// Overruns of the receive buffer (ENOBUFS, netlink(7)).
    public package(set) var overruns: UInt64 = 0
    /// Re-evaluations after lost events (overruns, reopened sockets); in a storm one follows many overruns.
    public package(set) var resyncs: UInt64 = 0
    /// Dropped messages: malformed, or from a sender other than the kernel.
    public package(set) var discarded: UInt64 = 0
    /// Sockets that were opened again.
    public package(set) var reopenings: UInt64 = 0

    /// All zero.
    public init() {}
}
