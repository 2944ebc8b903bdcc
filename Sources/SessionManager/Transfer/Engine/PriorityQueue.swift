// SPDX-License-Identifier: Apache-2.0

/// Items that wait: higher priority first, equal priorities in the order of their tickets.
struct PriorityQueue<Item> {
    private struct Entry {
        let priority: Float
        let ticket: Int
        /// Nil for one that was removed.
        var item: Item?
    }

    /// Entries before `head` have been taken out.
    private var entries: ContiguousArray<Entry> = []
    private var head = 0
    private var count = 0

    init() {}

    var isEmpty: Bool { count == 0 }

    /// Adds an item; the ticket, which is greater than all before, serves to remove it.
    mutating func append(_ item: Item, priority: Float, ticket: Int) {
        count += 1
        let entry = Entry(priority: priority, ticket: ticket, item: item)
        // Mostly all priorities are equal, and the search ends at the last entry.
        var index = entries.endIndex
        while index > head, entries[index - 1].priority < priority { index -= 1 }
        entries.insert(entry, at: index)
    }

    /// Priority and ticket of the next item.
    var first: (priority: Float, ticket: Int)? {
        guard count > 0, let entry = entries[head...].first(where: { $0.item != nil }) else { return nil }
        return (entry.priority, entry.ticket)
    }

    /// Takes out the next item.
    mutating func popFirst() -> Item? {
        while head < entries.count {
            let item = entries[head].item.take()
            head += 1
            guard let item else { continue }
            count -= 1
            compact()
            return item
        }
        entries.removeAll(keepingCapacity: true)
        head = 0
        return nil
    }

    /// Removes an item; false where it was taken out or removed before.
    mutating func remove(ticket: Int) -> Bool {
        guard let index = entries[head...].firstIndex(where: { $0.ticket == ticket }),
            entries[index].item.take() != nil
        else { return false }
        count -= 1
        return true
    }

    /// Frees the room of taken entries now and then, which moves each remaining entry at most once.
    private mutating func compact() {
        guard head > 64, head * 2 > entries.count else { return }
        entries.removeFirst(head)
        head = 0
    }
}
