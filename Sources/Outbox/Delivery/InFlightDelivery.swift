// SPDX-License-Identifier: Apache-2.0

import SessionManager
import Synchronization

/// An attempt under way: sent or received, or held by the manager until there is a network.
struct InFlightDelivery: Sendable {
    let work: Task<Void, Never>
    let task: ManagerTask
    /// Whether it is sent without TLS.
    let isPlain: Bool
    /// The interface that it is bound to; nil for the kernel's choice.
    let uplink: String?
    /// The time of day in which it may be sent; nil for any.
    let window: OutboxWindow?
    /// The file into which it fetches; nil for other requests.
    let part: String?
    /// The bytes of that file that have come in this attempt, and with those from before.
    var received: (attempt: Int64, file: Int64?) = (0, nil)
    /// The entries that are sent as one; nil for one alone.
    let batch: OutboxBatch?
    let lane: String
}

/// The manager's task of a delivery, while there is one.
final class ManagerTask: Sendable {
    private let task = Mutex<SessionTask?>(nil)
    private let onHold: @Sendable (HoldReason?) -> Void
    let onProgress: @Sendable (Int64, _ total: Int64?) -> Void

    /// - Parameters:
    ///   - onHold: called with why the manager holds it, and with nil when that ends.
    ///   - onProgress: called with the bytes that were sent, or of a download have come, and how many
    ///     these will be.
    init(
        onHold: @escaping @Sendable (HoldReason?) -> Void,
        onProgress: @escaping @Sendable (Int64, _ total: Int64?) -> Void
    ) { (self.onHold, self.onProgress) = (onHold, onProgress) }

    /// The bytes of the content that were sent.
    var sentBytes: Int64 { task.withLock { $0 }?.uploadProgress.completedBytes ?? 0 }

    /// - Returns: ends the observation of the task, and releases it: what it calls holds this object.
    func began(_ task: SessionTask) -> @Sendable () -> Void {
        self.task.withLock { $0 = task }
        let endObserving = task.observeEvents { [onHold, identifier = task.identifier] event in
            switch event {
            case .held(let other, let reason) where other.identifier == identifier: onHold(reason)
            case .released(let other) where other.identifier == identifier: onHold(nil)
            default: break
            }
        }
        return { [self] in
            endObserving()
            _ = self.task.withLock { $0.take() }
        }
    }

    /// Whether the manager holds it and nothing was sent.
    var isHeld: Bool { task.withLock { $0 }?.isHeld ?? false }

    /// Why the manager holds it; nil where it does not.
    var holdReason: String? {
        task.withLock { $0 }.flatMap { $0.isHeld ? $0.waitingReason?.description : nil }
    }
}
