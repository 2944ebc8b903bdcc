// SPDX-License-Identifier: Apache-2.0

/// Values within a limit of their costs: above it those go that were not asked for the longest.
package struct PurgingStore<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var value: Value
        var cost: Int64
        var lastUse: UInt64
    }

    private let capacity: Int64
    private let preferred: Int64
    private var entries: [Key: Entry] = [:]
    private var uses: UInt64 = 0
    /// What its values cost in all.
    package private(set) var usage: Int64 = 0

    /// A store that empties itself down to `preferred` when it exceeds `capacity`.
    package init(capacity: Int64, preferred: Int64) {
        self.capacity = max(0, capacity)
        self.preferred = max(0, min(preferred, capacity))
    }

    package var count: Int { entries.count }

    /// The value, which counts as used now.
    package mutating func value(for key: Key) -> Value? {
        guard entries[key] != nil else { return nil }
        let use = next()
        entries[key]?.lastUse = use
        return entries[key]?.value
    }

    /// Puts a value in the place of an earlier one with this key.
    package mutating func insert(_ value: Value, for key: Key, cost: Int64) {
        _ = remove(key)
        // One cost of nonsense must not spoil the sum.
        let cost = min(max(0, cost), 1 << 60)
        entries[key] = Entry(value: value, cost: cost, lastUse: next())
        usage += cost
        if usage > capacity { purge() }
    }

    /// Whether there was one.
    package mutating func remove(_ key: Key) -> Bool {
        guard let entry = entries.removeValue(forKey: key) else { return false }
        usage -= entry.cost
        return true
    }

    /// Whether there was any.
    package mutating func removeAll() -> Bool {
        defer {
            entries = [:]
            usage = 0
        }
        return !entries.isEmpty
    }

    private mutating func purge() {
        for (key, _) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
            guard usage > preferred else { return }
            _ = remove(key)
        }
    }

    private mutating func next() -> UInt64 {
        uses += 1
        return uses
    }
}
