// SPDX-License-Identifier: Apache-2.0

/// Which bytes a partial response has, of how many (`Content-Range`, RFC 9110 §14.4).
package struct ContentRange: Sendable, Equatable {
    /// The first and the last byte; nil where the range could not be satisfied.
    package let bytes: ClosedRange<Int64>?
    /// The length of the whole; nil where the server does not know it.
    package let completeLength: Int64?

    package init(bytes: ClosedRange<Int64>?, completeLength: Int64?) {
        self.bytes = bytes
        self.completeLength = completeLength
    }

    /// Reads `bytes 0-9/100`, `bytes 0-9/*` and `bytes */100`; nil for anything else, or beyond the length.
    package init?(_ text: String) {
        let words = text.trimmingBlanks.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].utf8.equalsIgnoringCase("bytes".utf8) else { return nil }
        let halves = words[1].trimmingBlanks.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let length = Self.number(halves[1])
        guard length != nil || halves[1] == "*" else { return nil }
        if halves[0] == "*" {
            guard length != nil else { return nil }
            self.init(bytes: nil, completeLength: length)
            return
        }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            first <= last, last < Int64.max, last < length ?? Int64.max
        else { return nil }
        self.init(bytes: first...last, completeLength: length)
    }

    /// Digits alone: no sign, and nothing beyond 63 bits.
    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}

/// The validator of `ETag` (RFC 9110 §8.8.3): an opaque name for one state of a resource.
package struct EntityTag: Sendable, Equatable {
    /// Whether two bodies with this tag may differ in their bytes.
    package let isWeak: Bool
    /// The name with its quotation marks.
    package let opaque: String

    /// Reads `"name"` or `W/"name"`; nil for anything else.
    package init?(_ text: String) {
        var rest = text.trimmingBlanks
        isWeak = rest.hasPrefix("W/")
        if isWeak { rest = rest.dropFirst(2) }
        let inner = rest.utf8.dropFirst().dropLast()
        guard rest.utf8.count >= 2, rest.hasPrefix("\""), rest.hasSuffix("\""),
            inner.allSatisfy({ $0 == 0x21 || $0 >= 0x23 && $0 != 0x7F })
        else { return nil }
        opaque = String(rest)
    }

    /// As it is sent.
    package var text: String { isWeak ? "W/\(opaque)" : opaque }

    /// Whether both name the very same bytes (RFC 9110 §8.8.3.2).
    package func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && opaque == other.opaque
    }

    /// Whether both name states that are as good as each other (RFC 9110 §8.8.3.2).
    package func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }
}

/// When a server wants to be asked again (`Retry-After`, RFC 9110 §10.2.3).
package enum RetryAfter: Sendable, Equatable {
    /// After so many seconds.
    case delay(seconds: Int64)
    /// Not before this.
    case date(HTTPDate)

    /// Reads a number of seconds or a date; nil for anything else.
    package init?(_ text: String, now: HTTPDate) {
        let text = text.trimmingBlanks
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            self = .delay(seconds: min(Int64(text) ?? .max, 1 << 40))
        } else if let date = HTTPDate(String(text), now: now) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// How long to wait, counted from the arrival of `response`; nil where it does not say, or nonsense.
    ///
    /// A date counts by the clock of the response's `Date`, where it has one: devices start in 1970.
    package static func delay(in response: SessionResponse, now: HTTPDate) -> Duration? {
        guard let text = response.values(forHeader: "retry-after").first,
            let value = RetryAfter(text, now: now)
        else { return nil }
        switch value {
        case .delay(let seconds): return .seconds(seconds)
        case .date(let date):
            let sent = response.values(forHeader: "date").first.flatMap { HTTPDate($0, now: now) }
            return .seconds(max(0, date.seconds - (sent ?? now).seconds))
        }
    }
}
