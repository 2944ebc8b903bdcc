// SPDX-License-Identifier: Apache-2.0

/// Tracks which work fails on the outbox's files, so that each failure is reported once and not with every
/// try.
struct StorageHealth: Sendable {
    /// Work that is retried.
    enum Work: Sendable {
        /// Storing the outcome of a delivery.
        case settling
        /// Searching for entries to send.
        case choosing
        /// Reading changes of other processes.
        case noticing
    }

    private var failing: Set<Work> = []
    /// The sentences since everything worked.
    private var reported: Set<String> = []

    init() {}

    /// Records a failure; true if its sentence is new.
    mutating func failed(_ work: Work, _ sentence: String) -> Bool {
        failing.insert(work)
        return reported.insert(sentence).inserted
    }

    /// Records a success; true if everything works again.
    mutating func worked(_ works: Set<Work>) -> Bool {
        guard !failing.isDisjoint(with: works) else { return false }
        failing.subtract(works)
        guard failing.isEmpty else { return false }
        reported = []
        return true
    }
}
