// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Objects that go back to the thread that made them, to be released there.
///
/// glibc's malloc(3) keeps what a thread frees for that thread; what another thread frees goes back under a
/// lock, which the maker needs whenever it runs out of its own. They are released in batches: as many as a
/// thread keeps of a size (7), and by then hardly one is still in use where it was read.
struct DeferredReleases<Item> {
    private static var batch: Int { 6 }
    /// More do not wait: they are released by their readers.
    static var limit: Int { 64 }

    private var items: [Item] = []
    /// Empty room for the next ones.
    private var room: [Item] = []

    /// Adds one, where there is room.
    mutating func add(_ item: Item) { if items.count < Self.limit { items.append(item) } }

    /// Whether some are to be released now: a batch, or `all`.
    func isDue(all: Bool) -> Bool { items.count >= (all ? 1 : Self.batch) }

    /// What is to be released now; empty until a batch has come together.
    mutating func removeDue(all: Bool) -> [Item] {
        guard isDue(all: all) else { return [] }
        var taken: [Item] = []
        swap(&taken, &items)
        swap(&items, &room)
        return taken
    }

    /// Keeps the emptied array for the next ones.
    mutating func reuse(_ room: [Item]) { self.room = room }
}

extension Data {
    /// A copy in memory of its own.
    var copied: Data {
        withUnsafeBytes { bytes in
            bytes.baseAddress.map { Data(bytes: $0, count: bytes.count) } ?? Data()
        }
    }
}
