// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// Receives what an executor reports, on the loop's thread.
protocol RequestExecutorDelegate: AnyObject {
    /// The request waits for the network; the failure is its outcome where that never comes.
    func executorParked(_ executor: RequestExecutor, _ failure: SessionError?)
    /// The connection was lost, and the request waits for another path.
    func executorLostPath(_ executor: RequestExecutor)
    /// The exchange waits for a connection of its host, or does not any more.
    func executor(_ executor: RequestExecutor, waitsForConnection isWaiting: Bool)
    /// Another task has to be sent for this one.
    func executor(_ executor: RequestExecutor, needs other: SessionTask)
    /// Its connection speaks another protocol from now on, for long.
    func executorTakenOver(_ executor: RequestExecutor)
    func executorFinished(_ executor: RequestExecutor)
}
