// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

/// Lengths of time as text: `500ms` in files and options, `2 h 5 min` for people.
package enum DurationText {
    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ]

    /// The allowed values, for a message.
    package static let allowed = "a length of time such as \"500ms\", \"10s\", \"5m\", \"24h\" or \"90d\""

    /// Reads a number with one unit: `ms`, `s`, `m`, `h`, `d`; a fraction is allowed, at most 100 years.
    package static func duration(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard let unit = units.first(where: { $0.name == text[digits.endIndex...] }),
            (1...2).contains(parts.count),
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 12 }), let whole = Int64(parts[0])
        else { return nil }
        var (nanoseconds, overflow) = whole.multipliedReportingOverflow(by: unit.nanoseconds)
        if parts.count == 2 {
            var scale = unit.nanoseconds
            for digit in parts[1].utf8 {
                scale /= 10
                nanoseconds &+= Int64(digit - 48) * scale
            }
        }
        overflow = overflow || nanoseconds < 0 || nanoseconds > 36_525 * 86_400_000_000_000
        return overflow ? nil : .nanoseconds(nanoseconds)
    }

    /// The shortest text that `duration(_:)` reads as the same duration: in the largest unit that divides it.
    package static func text(_ duration: Duration) -> String {
        let nanoseconds = duration.inNanoseconds
        if nanoseconds == 0 { return "0s" }
        // Swift 6.2 infers the labels of the tuple only if they are written.
        let unit: (name: String, nanoseconds: Int64) =
            units.last { nanoseconds % $0.nanoseconds == 0 } ?? units[0]
        return "\(nanoseconds / unit.nanoseconds)\(unit.name)"
    }

    /// For people, to two units: `4 s`, `12 min 4 s`, `2 h 5 min`, `3 d 4 h`; below ten seconds to the tenth.
    package static func people(_ duration: Duration) -> String {
        // Nanoseconds would overflow for long durations, such as those between two distant wall times.
        let nanoseconds = max(0, duration.inNanoseconds)
        if nanoseconds < 9_950_000_000 {
            let tenths = (nanoseconds + 50_000_000) / 100_000_000
            return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
        }
        let seconds = (duration + .milliseconds(500)).components.seconds
        let parts: [(Int64, String)] =
            switch seconds {
            case ..<60: [(seconds, "s")]
            case ..<3600: [(seconds / 60, "min"), (seconds % 60, "s")]
            case ..<86_400: [(seconds / 3600, "h"), (seconds / 60 % 60, "min")]
            default: [(seconds / 86_400, "d"), (seconds / 3600 % 24, "h")]
            }
        return parts.enumerated().filter { $0.offset == 0 || $0.element.0 > 0 }
            .map { "\($0.element.0) \($0.element.1)" }.joined(separator: " ")
    }
}
