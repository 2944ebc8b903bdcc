// SPDX-License-Identifier: Apache-2.0

/// Reports on links that still hold: a route of one link says nothing about the others.
///
/// Without it each change costs as much as there are links. A report is kept that rests upon answers alone which are kept as well
/// (``AnswerMemory``), about links, addresses, devices and routes bound to its own link, and upon the kernel's refusals to send
/// anywhere at all, which are the ``Basis``. The links that the kernel has chosen are reported on anew each time.
struct ReportMemory {
    /// What all kept reports have in common.
    struct Basis: Equatable {
        /// What was asked the way to.
        var target: ReachabilityTarget
        /// For each surveyed address, the errno with which the kernel refuses to send there; 0 where it does not, or has no route.
        var refusals: [Int32] = []
    }

    private struct Entry {
        let index: Int32
        let report: LinkReport
    }

    private var basis: Basis?
    // In the order of their indexes.
    private var entries: [Entry] = []

    /// The report on a link, where it still holds.
    subscript(index: Int32) -> LinkReport? {
        let position = position(of: index)
        guard position < entries.count, entries[position].index == index else { return nil }
        return entries[position].report
    }

    /// Keeps nothing that rests upon something else.
    mutating func rest(upon basis: Basis) {
        guard self.basis != basis else { return }
        self.basis = basis
        removeAll()
    }

    /// Keeps a report that rests upon the basis.
    mutating func keep(_ report: LinkReport) {
        let entry = Entry(index: report.index, report: report)
        let position = position(of: report.index)
        if position < entries.count, entries[position].index == report.index {
            entries[position] = entry
        } else {
            entries.insert(entry, at: position)
        }
    }

    /// Forgets the report on a link.
    mutating func forget(_ index: Int32) {
        let position = position(of: index)
        if position < entries.count, entries[position].index == index { entries.remove(at: position) }
    }

    /// Forgets all reports.
    mutating func removeAll() { entries.removeAll(keepingCapacity: entries.count <= 32) }

    /// Where a link's report is, or would be.
    private func position(of index: Int32) -> Int {
        entries.indices.partitioningIndex { entries[$0].index >= index }
    }
}
