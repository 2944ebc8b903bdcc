// SPDX-License-Identifier: Apache-2.0

/// The time of day in which a request may be sent, by the device's local time: `02:00-05:00`, `22:00-06:00`
/// over midnight, `sat,sun 00:00-24:00`, `mon-fri 08:00-18:00`.
///
/// Where clocks go forward, a window that would open in the skipped hour opens at its end; where they go
/// back, one that lies in the repeated hour opens twice.
public struct OutboxWindow: Sendable, Hashable, CustomStringConvertible {
    /// Days of the week on which the window opens.
    public struct Days: OptionSet, Sendable, Hashable {
        /// Monday is bit 0, Sunday bit 6.
        public let rawValue: Int
        /// The days with these bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// Every day.
        public static let all = Days(rawValue: 0x7F)
    }

    /// When it opens, in minutes since midnight; 0 to 1439.
    public let start: Int
    /// When it closes, in minutes since midnight; 1 to 1440.
    ///
    /// Before ``start`` it is of the next day.
    public let end: Int
    /// The days on which it opens; over midnight it closes on the next one.
    public let days: Days

    /// A window; nil if a number is out of its range, both are equal, or there is no day.
    public init?(start: Int, end: Int, days: Days = .all) {
        guard (0...1_439).contains(start), (1...1_440).contains(end), start != end,
            !days.isEmpty, days.isSubset(of: .all)
        else { return nil }
        (self.start, self.end, self.days) = (start, end, days)
    }

    /// `HH:MM-HH:MM`, with days before it where it does not open daily; nil for another text.
    public init?(_ text: String) {
        let words = text.split(separator: " ")
        guard let times = words.last, words.count <= 2 else { return nil }
        let ends = times.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let start = Self.minutes(ends[0]), let end = Self.minutes(ends[1]) else {
            return nil
        }
        var days = Days.all
        if words.count == 2 {
            guard let given = Self.days(words[0]) else { return nil }
            days = given
        }
        self.init(start: start, end: end, days: days)
    }

    /// The text that ``init(_:)`` reads.
    public var description: String {
        let times = "\(Self.text(start))-\(Self.text(end))"
        guard days != .all else { return times }
        let names = Self.names.indices.filter { days.contains(Days(rawValue: 1 << $0)) }.map {
            Self.names[$0]
        }
        return "\(names.joined(separator: ",")) \(times)"
    }

    /// How long it is open by the clock on the wall, in minutes.
    var length: Int { end > start ? end - start : end + 1_440 - start }

    private static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    private static func minutes(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }),
            text.utf8.allSatisfy({ (0x30...0x3A).contains($0) }), let hours = Int(parts[0]),
            let minutes = Int(parts[1]), minutes < 60, hours < 24 || hours == 24 && minutes == 0
        else { return nil }
        return hours * 60 + minutes
    }

    private static func text(_ minutes: Int) -> String {
        [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }

    /// `mon,tue`, `mon-fri`, `fri-mon`.
    private static func days(_ text: Substring) -> Days? {
        var days = Days()
        for part in text.lowercased().split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
            guard (1...2).contains(ends.count), let first = names.firstIndex(of: String(ends[0])),
                let last = names.firstIndex(of: String(ends[ends.count - 1]))
            else { return nil }
            for day in 0...(last - first + 7) % 7 { days.insert(Days(rawValue: 1 << ((first + day) % 7))) }
        }
        return days
    }
}
