// SPDX-License-Identifier: Apache-2.0

/// Values by keys, in the order of the keys: an array, since there are few at a time.
///
/// The first `Dictionary` with a type of keys has Swift's runtime search all of a program's conformances for
/// that of the keys: 1 MB of the program is read in for nothing else. Keys mostly grow, and go in the order
/// in which they came: the last one is looked at before all others.
struct SmallMap<Key: Comparable, Value>: ~Copyable {
    private struct Entry {
        let key: Key
        /// Nil for one that was removed.
        var value: Value?
        /// Apart from the value, since looking at a weak reference copies it.
        var isRemoved = false
    }

    /// By key; removed ones are swept out when they are half of all.
    private var entries: ContiguousArray<Entry> = []
    /// How many values there are.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// All values, in the order of their keys.
    var all: [Value] { entries.compactMap(\.value) }

    subscript(key: Key) -> Value? {
        let index = index(of: key)
        return index < entries.count && entries[index].key == key ? entries[index].value : nil
    }

    /// Inserts a value, in the place of one with its key.
    mutating func insert(_ value: Value, for key: Key) {
        let index = index(of: key)
        if index < entries.count, entries[index].key == key {
            if entries[index].isRemoved { count += 1 }
            entries[index] = Entry(key: key, value: value)
        } else {
            count += 1
            let new = Entry(key: key, value: value)
            if index == entries.count { entries.append(new) } else { entries.insert(new, at: index) }
        }
    }

    /// Removes a value; false where there is none.
    @discardableResult
    mutating func remove(_ key: Key) -> Bool {
        let index = index(of: key)
        guard index < entries.count, entries[index].key == key, !entries[index].isRemoved else {
            return false
        }
        count -= 1
        if index == entries.count - 1 {
            entries.removeLast()
        } else {
            entries[index].value = nil
            entries[index].isRemoved = true
        }
        if count * 2 < entries.count { entries.removeAll { $0.isRemoved } }
        return true
    }

    mutating func removeAll(where isGone: (Value) -> Bool) {
        entries.removeAll { $0.value.map(isGone) ?? true }
        count = entries.count
    }

    /// Where a key is, or would be: by binary search, unless it is the last one or beyond.
    private func index(of key: Key) -> Int {
        guard let last = entries.last?.key, last >= key else { return entries.count }
        if last == key { return entries.count - 1 }
        var (low, high) = (0, entries.count - 1)
        while low < high {
            let middle = low + (high - low) / 2
            if entries[middle].key >= key { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
