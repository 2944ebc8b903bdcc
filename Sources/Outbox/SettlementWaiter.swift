// SPDX-License-Identifier: Apache-2.0

/// One who waits for an entry to leave.
///
/// Unchecked because the compiler cannot see threads: made by the one who waits, and from then on used on the outbox's thread alone.
final class SettlementWaiter: @unchecked Sendable {
    let id: OutboxID
    var continuation: CheckedContinuation<OutboxSettlement, any Error>?
    /// The wait was given up, perhaps before it began.
    var isForgotten = false

    init(_ id: OutboxID) { self.id = id }

    func end(_ result: Result<OutboxSettlement, any Error>) {
        continuation?.resume(with: result)
        continuation = nil
    }
}
