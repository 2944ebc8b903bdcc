// SPDX-License-Identifier: Apache-2.0

/// Decides whether the outbox's thread waits for the next request before it goes to sleep.
///
/// A caller that stores one request after the other comes back sooner than a sleeping thread wakes up, which
/// would be a third of its time. Others never have the thread wait. Times are nanoseconds of one clock.
struct EnqueuePace: Sendable {
    /// How soon a caller has to come back, and how long it is waited for, at most.
    static let soon: Int64 = 200_000

    private var stored: Int64?
    private var isSteady = false

    /// Requests are about to be stored, so many in one transaction.
    mutating func begins(_ count: Int, at now: Int64) {
        isSteady = count == 1 && stored.map { now - $0 < Self.soon } ?? false
    }

    /// They were stored: until when the next one is waited for; nil if it is not.
    mutating func stored(at now: Int64) -> Int64? {
        stored = now
        return isSteady ? now + Self.soon : nil
    }
}
