// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// How old a stored response is, and for how long it is fresh (RFC 9111 §4.2), in seconds.
package struct CacheFreshness: Sendable, Equatable {
    /// For how long it is fresh, from when the server made it.
    package let lifetime: Int64
    package let age: Int64

    /// A response of a private cache: `s-maxage` and `proxy-revalidate` mean nothing.
    package init(_ entry: CacheEntry, at now: Date) {
        let arrival = HTTPDate(entry.responseDate)
        let date = Self.date("date", entry, arrival) ?? arrival
        lifetime = Self.lifetime(entry, date, arrival)
        let resident = HTTPDate(now).seconds - arrival.seconds
        guard resident >= 0 else {
            // The clock was set back: the age is unknown.
            age = .max / 4
            return
        }
        let delay = max(0, arrival.seconds - HTTPDate(entry.requestDate).seconds)
        let apparent = max(0, arrival.seconds - date.seconds)
        age = max(apparent, Self.receivedAge(entry) + delay) + resident
    }

    /// By how much it is stale; 0 or less while it is fresh.
    package var staleness: Int64 { age - lifetime + 1 }

    package var isFresh: Bool { lifetime > age }

    /// What caches on the way said: the first member of a list, and nothing for what is no number (RFC 9111
    /// §5.1).
    private static func receivedAge(_ entry: CacheEntry) -> Int64 {
        CacheControl.seconds(
            entry.response.values(forHeader: "age").first.map {
                String($0.prefix { $0 != "," }.trimmingBlanks)
            })
    }

    private static func lifetime(_ entry: CacheEntry, _ date: HTTPDate, _ arrival: HTTPDate) -> Int64 {
        let control = CacheControl(entry.response)
        if let maxAge = control.maxAge { return maxAge }
        let expires = entry.response.values(forHeader: "expires")
        if let first = expires.first {
            // Anything that is no date, "0" above all, means that it has expired (RFC 9111 §5.3).
            guard expires.allSatisfy({ $0 == first }), let end = HTTPDate(first, now: arrival) else {
                return 0
            }
            return max(0, end.seconds - date.seconds)
        }
        guard CacheRules.heuristicStatuses.contains(entry.response.statusCode ?? 0),
            let modified = Self.date("last-modified", entry, arrival)
        else { return 0 }
        return min(max(0, date.seconds - modified.seconds) / 10, CacheRules.longestHeuristic)
    }

    private static func date(_ field: String, _ entry: CacheEntry, _ now: HTTPDate) -> HTTPDate? {
        entry.response.values(forHeader: field).first.flatMap { HTTPDate($0, now: now) }
    }
}
