// SPDX-License-Identifier: Apache-2.0

/// How far local time is ahead of UTC at an instant, both in seconds.
package typealias LocalOffset = (_ instant: Int64) -> Int64

// When a window is open. All instants are milliseconds since 1970.
extension OutboxWindow {
    /// When it is open without a break.
    package struct Opening: Sendable, Equatable {
        package var start: Int64
        /// The first instant at which it is closed again.
        package var end: Int64

        /// When an entry is sent at the earliest that is spread by `delay`; always before the end.
        func earliest(after delay: Int64) -> Int64 { min(start + max(delay, 0), max(start, end - 1_000)) }
    }

    /// The opening that holds at an instant, or the next one.
    package func opening(at now: Int64, _ offset: LocalOffset) -> Opening? {
        let seconds = Self.floor(now, 1_000)
        // An opening is shorter than two days, unless it never ends; the next begins within a week, and is
        // looked for a day longer, since a changed offset may skip one.
        return openings(from: seconds - 2 * Self.day, to: seconds + 9 * Self.day, offset)
            .first { $0.end > now }
    }

    private static let day: Int64 = 86_400

    private func openings(from start: Int64, to end: Int64, _ offset: LocalOffset) -> [Opening] {
        var found: [Opening] = []
        for stretch in Self.stretches(from: start, to: end, offset) {
            let first = Self.floor(stretch.start + stretch.offset, Self.day) - 1
            let last = Self.floor(stretch.end + stretch.offset, Self.day)
            for day in first...last where opens(on: day) {
                let opens = day * Self.day + Int64(self.start) * 60
                let from = max(opens - stretch.offset, stretch.start)
                let to = min(opens + Int64(length) * 60 - stretch.offset, stretch.end)
                guard from < to else { continue }
                if let former = found.last, former.end >= from * 1_000 {
                    found[found.count - 1].end = max(former.end, to * 1_000)
                } else {
                    found.append(Opening(start: from * 1_000, end: to * 1_000))
                }
            }
        }
        return found
    }

    /// Whether it opens on a day, counted from 1970-01-01, a Thursday.
    private func opens(on day: Int64) -> Bool {
        days.contains(Days(rawValue: 1 << Int(((day + 3) % 7 + 7) % 7)))
    }

    private struct Stretch {
        var start: Int64
        var end: Int64
        var offset: Int64
    }

    /// Cuts a time, in seconds, where the offset changes; two changes within six hours are not seen.
    private static func stretches(from start: Int64, to end: Int64, _ offset: LocalOffset) -> [Stretch] {
        var (found, begin, probe, current) = ([Stretch](), start, start, offset(start))
        while probe < end {
            let next = min(probe + 6 * 3_600, end)
            guard offset(next) != current else {
                probe = next
                continue
            }
            var (low, high) = (probe, next)
            while high - low > 1 {
                let middle = low + (high - low) / 2
                if offset(middle) == current { low = middle } else { high = middle }
            }
            found.append(Stretch(start: begin, end: high, offset: current))
            (begin, probe, current) = (high, high, offset(high))
        }
        if begin < end { found.append(Stretch(start: begin, end: end, offset: current)) }
        return found
    }

    private static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
        let quotient = number / divisor
        return number % divisor < 0 ? quotient - 1 : quotient
    }
}
