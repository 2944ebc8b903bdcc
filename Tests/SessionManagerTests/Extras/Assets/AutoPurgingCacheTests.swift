// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import SessionManager
import SessionManagerExtras
import Testing

struct AutoPurgingCacheTests {
    private func request(_ path: String) throws -> SessionRequest {
        try SessionRequest("https://example.com/\(path)")
    }

    @Test("AF-244 found by URL, by request and with an identifier; not by others")
    func find() throws {
        let cache = AutoPurgingCache<String> { _ in 1 }
        let one = try request("one")
        cache.insert("plain", for: AssetKey(one))
        cache.insert("round", for: AssetKey(one, identifier: "filter"))
        #expect(cache.value(for: AssetKey(one.url)) == "plain")
        #expect(cache.value(for: AssetKey(one, identifier: "filter")) == "round")
        #expect(cache.value(for: AssetKey(one, identifier: "other")) == nil)
        #expect(cache.value(for: AssetKey(try request("two"))) == nil)
        #expect(cache.usage == 2)
        cache.insert("again", for: AssetKey(one))
        #expect(cache.usage == 2 && cache.value(for: AssetKey(one)) == "again")
    }

    @Test("AF-245 removing tells whether there was something; another identifier leaves it there")
    func remove() throws {
        let cache = AutoPurgingCache<String> { _ in 1 }
        let key = AssetKey(try request("one"), identifier: "filter")
        cache.insert("value", for: key)
        #expect(!cache.remove(AssetKey(try request("one"))))
        #expect(!cache.remove(AssetKey(try request("one"), identifier: "other")))
        #expect(cache.value(for: key) == "value")
        #expect(cache.remove(key))
        #expect(!cache.remove(key))
        #expect(cache.usage == 0)
        cache.insert("value", for: key)
        #expect(cache.removeAll())
        #expect(!cache.removeAll() && cache.usage == 0 && cache.count == 0)
    }

    @Test("AF-246 above the capacity the longest unused go, down to the preferred usage")
    func purge() throws {
        let cost: Int64 = 1_020_000
        let cache = AutoPurgingCache<Int>(capacity: 10 * cost, preferredUsage: 6 * cost) { _ in cost }
        let keys = try (0...10).map { AssetKey(try request("\($0)")) }
        for number in 0...9 { cache.insert(number, for: keys[number]) }
        #expect(cache.usage == 10 * cost)
        #expect(cache.value(for: keys[0]) == 0)
        cache.insert(10, for: keys[10])
        #expect(cache.usage == 6 * cost)
        let kept = (0...10).filter { cache.value(for: keys[$0]) != nil }
        #expect(kept == [0, 6, 7, 8, 9, 10])
    }

    @Test("costs of nonsense neither overflow nor free room")
    func nonsense() throws {
        let cache = AutoPurgingCache<Int64>(capacity: 100, preferredUsage: 60) { $0 }
        for (index, cost) in [Int64.min, .max, .max, -5, 7].enumerated() {
            cache.insert(cost, for: AssetKey(try request("\(index)")))
        }
        #expect(cache.usage == 7)
    }
}
