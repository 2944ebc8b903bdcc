// SPDX-License-Identifier: Apache-2.0

/// Which bytes a partial response has, of how many (`Content-Range`, RFC 9110 §14.4).
package struct ContentRange: Sendable, Equatable {
    /// The first and the last byte; nil where the range could not be satisfied.
    package let bytes: ClosedRange<Int64>?
    /// The length of the whole; nil where the server does not know it.
    package let completeLength: Int64?

    /// A range.
    package init(bytes: ClosedRange<Int64>?, completeLength: Int64?) {
        self.bytes = bytes
        self.completeLength = completeLength
    }

    /// Reads `bytes 0-9/100`, `bytes 0-9/*` and `bytes */100`; nil for anything else, also for a range beyond the length.
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
            first <= last,
            last < Int64.max, last < length ?? Int64.max
        else { return nil }
        self.init(bytes: first...last, completeLength: length)
    }

    /// Digits alone: no sign, and nothing beyond 63 bits.
    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}
