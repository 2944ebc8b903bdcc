// SPDX-License-Identifier: Apache-2.0

import SessionCore
public import SessionManager
import Synchronization

/// Keeps assets in memory within a limit: above it those go that were not asked for the longest.
///
/// From any thread. A ``MemoryPressureMonitor`` empties it when memory runs short; it does not by itself.
public final class AutoPurgingCache<Value: Sendable>: PurgeableCache {
    private let store: Mutex<PurgingStore<AssetKey, Value>>
    private let cost: @Sendable (Value) -> Int64
    private let storable: @Sendable (Value, AssetKey) -> Bool

    /// A cache.
    ///
    /// - Parameters:
    ///   - capacity: what all values may cost; 100 MiB.
    ///   - preferredUsage: what they may cost after a purge; 60 MiB.
    ///   - shouldStore: asked before a download is stored; always unless said.
    ///   - cost: what a value costs, in bytes of memory.
    public init(
        capacity: Int64 = 100 << 20, preferredUsage: Int64 = 60 << 20,
        shouldStore: @escaping @Sendable (Value, AssetKey) -> Bool = { _, _ in true },
        cost: @escaping @Sendable (Value) -> Int64
    ) {
        store = Mutex(PurgingStore(capacity: capacity, preferred: preferredUsage))
        self.cost = cost
        storable = shouldStore
    }

    /// What the values cost in all.
    public var usage: Int64 { store.withLock { $0.usage } }
    /// How many values there are.
    public var count: Int { store.withLock { $0.count } }

    /// The value, which counts as used now; nil where there is none.
    public func value(for key: AssetKey) -> Value? { store.withLock { $0.value(for: key) } }

    /// Stores a value in place of an earlier one with this key.
    public func insert(_ value: Value, for key: AssetKey) {
        let cost = cost(value)
        store.withLock { $0.insert(value, for: key, cost: cost) }
    }

    /// Removes a value; whether there was one.
    @discardableResult
    public func remove(_ key: AssetKey) -> Bool { store.withLock { $0.remove(key) } }

    /// Removes all values; whether there was any.
    @discardableResult
    public func removeAll() -> Bool { store.withLock { $0.removeAll() } }

    /// Stores a download, where that is wanted.
    func offer(_ value: Value, for key: AssetKey) {
        if storable(value, key) { insert(value, for: key) }
    }
}

extension AutoPurgingCache<ImageDescription> {
    /// A cache of images, which cost 4 bytes for each pixel when they are drawn, or the file if that is more.
    public convenience init(capacity: Int64 = 100 << 20, preferredUsage: Int64 = 60 << 20) {
        self.init(capacity: capacity, preferredUsage: preferredUsage) { image in
            let (pixels, overflow) = Int64(image.width).multipliedReportingOverflow(
                by: Int64(image.height) * 4)
            return overflow ? .max : max(pixels, Int64(image.data.count))
        }
    }
}
