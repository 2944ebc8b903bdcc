// SPDX-License-Identifier: Apache-2.0

/// What of an outbox's work its files refuse at the moment, so that it is reported once and not with every try.
package struct StorageHealth: Sendable {
    /// What is tried again by itself.
    package enum Work: Sendable {
        /// Writing down what became of a delivery.
        case settling
        /// Looking for what is to be sent.
        case choosing
        /// Looking at what others have written.
        case noticing
    }

    private var failing: Set<Work> = []
    /// What was said since everything worked.
    private var reported: Set<String> = []

    package init() {}

    /// Something has failed; true where its sentence is new and should be reported.
    package mutating func failed(_ work: Work, _ sentence: String) -> Bool {
        failing.insert(work)
        return reported.insert(sentence).inserted
    }

    /// Something has worked; true where with it everything works again.
    package mutating func worked(_ works: Set<Work>) -> Bool {
        guard !failing.isDisjoint(with: works) else { return false }
        failing.subtract(works)
        guard failing.isEmpty else { return false }
        reported = []
        return true
    }
}
