// SPDX-License-Identifier: Apache-2.0

/// Names an entry of a queue; of no use once the entry has ended.
package struct QueueTicket: Sendable, Hashable {
    let slot: Int32
    let generation: UInt32

    /// As one number, for an atomic that can only hold one.
    package var packed: UInt64 { UInt64(UInt32(bitPattern: slot)) << 32 | UInt64(generation) }
    /// From the number; nil for 0, which is none.
    package init?(packed: UInt64) {
        guard packed != 0 else { return nil }
        self.init(
            slot: Int32(bitPattern: UInt32(packed >> 32)), generation: UInt32(truncatingIfNeeded: packed))
    }
    /// Where it may be kept in a table; taken anew after it has ended.
    package var index: Int { Int(slot) }

    init(slot: Int32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }
}

/// A binary heap of tickets, ordered by `key`, and by `order` where keys are equal.
///
/// A ticket that has left the queue meanwhile stays in it with an old `stamp`.
struct TicketHeap: Sendable {
    struct Item: Sendable {
        var key: Int64
        var order: UInt64
        var slot: Int32
        var stamp: UInt32

        func isBefore(_ other: Item) -> Bool {
            key < other.key || (key == other.key && order < other.order)
        }
    }

    private var items: ContiguousArray<Item> = []

    var first: Item? { items.first }
    var isEmpty: Bool { items.isEmpty }
    var count: Int { items.count }

    mutating func add(_ item: Item) {
        items.append(item)
        var index = items.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard item.isBefore(items[parent]) else { break }
            items[index] = items[parent]
            index = parent
        }
        items[index] = item
    }

    mutating func removeFirst() {
        let last = items.removeLast()
        guard !items.isEmpty else { return }
        var index = 0
        while true {
            var child = 2 * index + 1
            guard child < items.count else { break }
            if child + 1 < items.count, items[child + 1].isBefore(items[child]) { child += 1 }
            guard items[child].isBefore(last) else { break }
            items[index] = items[child]
            index = child
        }
        items[index] = last
    }

    mutating func removeAll() { items = [] }

    /// Throws away what is of no use any more, where it is most of it.
    mutating func compact(valid: Int, _ isValid: (Item) -> Bool) {
        guard items.count > 64, items.count > 2 * valid else { return }
        let old = items
        items = []
        items.reserveCapacity(valid)
        for item in old where isValid(item) { add(item) }
    }
}
