// SPDX-License-Identifier: Apache-2.0

/// What a cache has, from the one used longest ago to the latest, and what has to go for something new.
///
/// Every event takes the same short time, however much there is.
package struct CacheIndex: ~Copyable, Sendable {
    private struct Node: Sendable {
        var key: String
        var size: Int64
        var older: Int?
        var newer: Int?
    }

    /// The most bytes that all together may have.
    package let capacity: Int64
    /// The bytes that all together have.
    package private(set) var usage: Int64 = 0
    private var nodes: [Node] = []
    private var free: [Int] = []
    private var indices: [String: Int] = [:]
    private var oldest: Int?
    private var latest: Int?

    package init(capacity: Int64) { self.capacity = max(capacity, 0) }

    package var count: Int { indices.count }

    package func contains(_ key: String) -> Bool { indices[key] != nil }

    /// The keys, the one used longest ago first.
    package var keys: [String] {
        var keys: [String] = []
        var next = oldest
        while let index = next {
            keys.append(nodes[index].key)
            next = nodes[index].newer
        }
        return keys
    }

    /// Whether something of this size is taken in at all: one thing must not push out everything else.
    package func accepts(size: Int64) -> Bool { size >= 0 && size <= capacity / 8 }

    /// Something came, or has another size now: the keys of what has to go.
    package mutating func stored(_ key: String, size: Int64) -> [String] {
        removed(key)
        guard size >= 0, size <= capacity else { return [key] }
        let index = free.popLast() ?? nodes.count
        let node = Node(key: key, size: size)
        if index == nodes.count { nodes.append(node) } else { nodes[index] = node }
        indices[key] = index
        usage += size
        append(index)
        return evicted()
    }

    /// Something was used: it goes last.
    package mutating func used(_ key: String) {
        guard let index = indices[key] else { return }
        unlink(index)
        append(index)
    }

    package mutating func removed(_ key: String) {
        guard let index = indices.removeValue(forKey: key) else { return }
        unlink(index)
        usage -= nodes[index].size
        nodes[index].key = ""
        free.append(index)
    }

    package mutating func removedAll() { self = CacheIndex(capacity: capacity) }

    private mutating func evicted() -> [String] {
        var keys: [String] = []
        while usage > capacity, let index = oldest {
            let key = nodes[index].key
            keys.append(key)
            removed(key)
        }
        return keys
    }

    private mutating func append(_ index: Int) {
        nodes[index].older = latest
        nodes[index].newer = nil
        if let latest { nodes[latest].newer = index } else { oldest = index }
        latest = index
    }

    private mutating func unlink(_ index: Int) {
        let (older, newer) = (nodes[index].older, nodes[index].newer)
        if let older { nodes[older].newer = newer } else { oldest = newer }
        if let newer { nodes[newer].older = older } else { latest = older }
    }
}
