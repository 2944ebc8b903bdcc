// SPDX-License-Identifier: Apache-2.0

/// Pauses that double up to a limit.
package struct Backoff: Sendable, Equatable {
    private let first: Duration
    private let limit: Duration
    private var next: Duration

    package init(first: Duration, limit: Duration) {
        self.first = first
        self.limit = limit
        next = first
    }

    /// The pause before the next try; each call doubles the one after.
    package mutating func nextDelay() -> Duration {
        let pause = next
        next = min(next * 2, limit)
        return pause
    }

    /// Back to the first pause.
    package mutating func reset() { next = first }
}
