// SPDX-License-Identifier: Apache-2.0

/// How often things happened since monitoring started; for diagnosis and metrics.
public struct MonitorCounters: Sendable, Equatable {
    /// Events that the kernel sent and the filter let through.
    public package(set) var events: UInt64 = 0
    /// Times the kernel was asked anew.
    public package(set) var evaluations: UInt64 = 0
    /// Overruns of the receive buffer (ENOBUFS, netlink(7)).
    public package(set) var overruns: UInt64 = 0
    /// Re-evaluations because events were lost: after overruns, and after a socket was opened again.
    ///
    /// In a storm of overruns one stands for many.
    public package(set) var resyncs: UInt64 = 0
    /// Messages that were malformed or came from somebody other than the kernel, and were dropped.
    public package(set) var discarded: UInt64 = 0
    /// Times a socket had to be opened again.
    public package(set) var reopenings: UInt64 = 0

    /// All zero.
    public init() {}
}
