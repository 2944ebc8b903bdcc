// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// Receives what an executor reports, on the loop's thread.
protocol RequestExecutorDelegate: AnyObject {
    /// Why the current exchange of a request must not use the network now; nil where it may.
    func networkBlock(of executor: RequestExecutor) -> String?
    /// Whether the request waits until the clock is set, which explains its failure.
    func executor(_ executor: RequestExecutor, waitsForClockAfter error: SessionError) -> Bool
    /// What the sockets of the current exchange are bound to.
    func binding(for executor: RequestExecutor) -> PathBinding
    /// The request waits for the network; the failure is its outcome where that never comes.
    func executorParked(_ executor: RequestExecutor, _ failure: SessionError?)
    /// What the uplink costs over which the request may go where its own line is dead; nil where it may not.
    func executor(_ executor: RequestExecutor, mayUse detour: Detour) -> UplinkTraits?
    /// The line of its connection is dead, and the detour is a way that works.
    func executor(_ executor: RequestExecutor, found detour: Detour, by engine: TransferEngine)
    /// The connection was lost, and the request waits for another path.
    func executorLostPath(_ executor: RequestExecutor)
    /// The exchange waits for a connection of its host, or does not any more.
    func executor(_ executor: RequestExecutor, waitsForConnection isWaiting: Bool)
    func executorFinished(_ executor: RequestExecutor)
}
