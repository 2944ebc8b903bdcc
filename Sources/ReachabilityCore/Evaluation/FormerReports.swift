// SPDX-License-Identifier: Apache-2.0

/// The reports on links of the evaluation before, of which an event changes a few.
package struct FormerReports: Sendable {
    /// In the order of their indexes.
    let reports: [LinkReport]
    /// ``KernelCache/linkVersion`` at that time; nil if the reports depend on answers that the cache does not
    /// keep.
    private var version: UInt64?
    private var costs: MeteredRules?

    package init(_ reports: [LinkReport] = []) { self.reports = reports }

    /// Makes the next reports use the answers about every link, as a recording needs them.
    package mutating func requireAnswers() { version = nil }

    /// Whether nothing but routes has changed since, so that a report which names an obstacle still holds.
    func differOnlyByRoutes(_ cache: KernelCache, _ costs: MeteredRules) -> Bool {
        version == cache.linkVersion && self.costs == costs
    }

    /// The reports for the next evaluation, which were made from the answers of `snapshot`.
    package func succeeded(
        by reports: [LinkReport], _ snapshot: Snapshot, _ cache: KernelCache, _ costs: MeteredRules
    ) -> FormerReports {
        var next = FormerReports(reports)
        guard differOnlyByRoutes(cache, costs) || snapshot.isKept(in: cache) else { return next }
        next.version = cache.linkVersion
        next.costs = costs
        return next
    }
}

extension Snapshot {
    /// Whether all answers but those about routes are still valid for the next evaluation.
    fileprivate func isKept(in cache: KernelCache) -> Bool {
        entries.allSatisfy { entry in
            if case .route = entry.question { true } else { cache[entry.question] != nil }
        }
    }
}
