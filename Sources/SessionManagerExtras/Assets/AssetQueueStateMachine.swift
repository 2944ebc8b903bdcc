// SPDX-License-Identifier: Apache-2.0

/// In which order waiting assets are fetched.
public enum AssetOrder: String, Sendable, Codable, CaseIterable {
    /// As they were asked for.
    case firstInFirstOut
    /// The newest first: what is looked at now.
    case lastInFirstOut
}

/// Which assets are being fetched, which wait, and what waits for each.
///
/// A fetch has a number of its own: a URL that is asked for again after all had left is another fetch.
package struct AssetQueueStateMachine<Key: Hashable & Sendable, Receipt: Hashable & Sendable>: ~Copyable,
    Sendable
{
    private struct Fetch: Sendable {
        let key: Key
        /// Who waits, in order.
        var receipts: [Receipt]
    }

    /// What a request for an asset leads to.
    package enum Request: Sendable, Equatable {
        /// It is on its way already, or waits.
        case joined(Int)
        /// It is to be fetched now.
        case start(Int)
        /// It waits for its turn.
        case queued(Int)
    }

    /// What leaving leads to.
    package enum Leave: Sendable, Equatable {
        /// The receipt is unknown: it is over already.
        case unknown
        /// Others wait still.
        case left(Int)
        /// No receipt waits any more: the fetch is forgotten, and to be cancelled if it has begun.
        case abandoned(Int, hadBegun: Bool)
    }

    private let limit: Int
    private let order: AssetOrder
    private var fetches: [Int: Fetch] = [:]
    private var byKey: [Key: Int] = [:]
    private var byReceipt: [Receipt: Int] = [:]
    private var waiting: [Int] = []
    /// Fetches that have begun, the abandoned ones until they have ended.
    private var active: Set<Int> = []
    private var last = 0

    /// A queue that lets so many be fetched at a time, at least one.
    package init(limit: Int, order: AssetOrder) {
        self.limit = max(1, limit)
        self.order = order
    }

    /// An asset is asked for.
    package mutating func requested(_ key: Key, by receipt: Receipt) -> Request {
        if let number = byKey[key] {
            fetches[number]?.receipts.append(receipt)
            byReceipt[receipt] = number
            return .joined(number)
        }
        last += 1
        fetches[last] = Fetch(key: key, receipts: [receipt])
        byKey[key] = last
        byReceipt[receipt] = last
        guard active.count < limit else {
            waiting.append(last)
            return .queued(last)
        }
        active.insert(last)
        return .start(last)
    }

    /// An asset is no longer wanted.
    package mutating func left(_ receipt: Receipt) -> Leave {
        guard let number = byReceipt.removeValue(forKey: receipt) else { return .unknown }
        fetches[number]?.receipts.removeAll { $0 == receipt }
        guard let fetch = fetches[number], fetch.receipts.isEmpty else { return .left(number) }
        forget(number)
        waiting.removeAll { $0 == number }
        return .abandoned(number, hadBegun: active.contains(number))
    }

    /// A fetch has ended: what waited for it, in order, and what begins now.
    package mutating func ended(_ number: Int) -> (receipts: [Receipt], start: [Int]) {
        let receipts = fetches[number]?.receipts ?? []
        forget(number)
        active.remove(number)
        var start: [Int] = []
        while active.count < limit, !waiting.isEmpty {
            let next = order == .firstInFirstOut ? waiting.removeFirst() : waiting.removeLast()
            active.insert(next)
            start.append(next)
        }
        return (receipts, start)
    }

    private mutating func forget(_ number: Int) {
        guard let fetch = fetches.removeValue(forKey: number) else { return }
        if byKey[fetch.key] == number { byKey[fetch.key] = nil }
        for receipt in fetch.receipts { byReceipt[receipt] = nil }
    }
}
