// SPDX-License-Identifier: Apache-2.0

import SessionManager
import Synchronization

/// A try that is under way: the request is on its way, or the manager holds it until there is a network for it.
struct InFlightDelivery: Sendable {
    /// The manager's task, once there is one.
    final class Transfer: Sendable {
        private let task = Mutex<SessionTask?>(nil)

        func began(_ task: SessionTask) { self.task.withLock { $0 = task } }

        /// Whether the manager holds it, and nothing of it is on its way.
        var isHeld: Bool { task.withLock { $0 }?.isHeld ?? false }
    }

    let work: Task<Void, Never>
    let transfer: Transfer
    /// Whether it goes without TLS.
    let isPlain: Bool
}
