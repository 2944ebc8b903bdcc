// SPDX-License-Identifier: Apache-2.0

/// How many requests of a queue are where.
///
/// Each that was resumed and has not completed is counted once.
public struct QueueCounts: Sendable, Equatable {
    /// Those that run: connecting, sending, receiving, or asking a delegate or an interceptor.
    public package(set) var active = 0
    /// Those that wait because as many run as may run, in all or with their host.
    public package(set) var waitingForTurn = 0
    /// Those that the network holds: there is none, or none that they may use, or it has to last first.
    public package(set) var waitingForNetwork = 0
    /// Those that the user holds: suspended, or in a queue that is paused.
    public package(set) var waitingForUser = 0
    /// Those that wait for others: of their lane, or that they depend on.
    public package(set) var waitingForOthers = 0
    /// Those among the waiting that have run before.
    public package(set) var parked = 0

    /// None.
    public init() {}

    /// All that have not completed.
    public var total: Int {
        active + waitingForTurn + waitingForNetwork + waitingForUser + waitingForOthers
    }
}
