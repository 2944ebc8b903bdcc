// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

/// Items under numbers that grow, in their order: as tasks under their identifiers.
///
/// They mostly go in the order in which they came, so an array does what a dictionary would. It is not a
/// dictionary because the first of each type has Swift's runtime search all of a program's conformances for
/// that of the key: a megabyte of the program that would be read in for nothing else.
struct NumberedItems<Item>: ~Copyable {
    private struct Entry {
        let number: Int
        /// Nil for one that has gone.
        var item: Item?
    }

    // By number. Those that have gone are swept out when they are half of all.
    private var entries: ContiguousArray<Entry> = []
    /// How many items there are.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// All items, in the order of their numbers.
    var all: [Item] {
        var items: [Item] = []
        items.reserveCapacity(count)
        forEach { items.append($0) }
        return items
    }

    /// Visits all items in the order of their numbers.
    func forEach(_ body: (Item) -> Void) {
        for entry in entries {
            if let item = entry.item { body(item) }
        }
    }

    /// Puts an item in, in the place of one with its number.
    mutating func add(_ item: Item, _ number: Int) {
        let place = place(of: number)
        if place == entries.count {
            entries.append(Entry(number: number, item: item))
            count += 1
        } else if entries[place].number == number {
            if entries[place].item == nil { count += 1 }
            entries[place].item = item
        } else {
            entries.insert(Entry(number: number, item: item), at: place)
            count += 1
        }
    }

    /// Takes an item out; false where there is none.
    @discardableResult
    mutating func remove(_ number: Int) -> Bool {
        let place = place(of: number)
        guard place < entries.count, entries[place].number == number, entries[place].item != nil else {
            return false
        }
        count -= 1
        if place == entries.count - 1 {
            entries.removeLast()
        } else {
            entries[place].item = nil
        }
        if count * 2 < entries.count { entries.removeAll { $0.item == nil } }
        return true
    }

    /// Where a number is, or would be.
    private func place(of number: Int) -> Int {
        guard let last = entries.last?.number, last >= number else { return entries.count }
        if last == number { return entries.count - 1 }
        return entries.indices.partitioningIndex { entries[$0].number >= number }
    }
}
