// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

/// The words of one line of a recording, consumed in order; an unknown word is an error, never ignored.
struct LineWords {
    /// The reason why a line cannot be read.
    struct Problem: Error {
        var text: String
        init(_ text: String) { self.text = text }
    }

    private let words: [Substring]
    private var position = 0
    /// Which `key=value` words and flags have been consumed.
    private var used: [Bool]

    init(_ text: Substring) { self.init(words: text.split(separator: " ", omittingEmptySubsequences: true)) }

    private init(words: [Substring]) {
        self.words = words
        used = Array(repeating: false, count: words.count)
    }

    /// The next word without a key.
    mutating func next(_ what: String) throws(Problem) -> Substring {
        guard position < words.count else { throw Problem("\(what) is missing") }
        used[position] = true
        position += 1
        return words[position - 1]
    }

    /// Consumes the next word if it is `word`; false otherwise.
    mutating func consume(_ word: String) -> Bool {
        guard position < words.count, words[position] == word else { return false }
        used[position] = true
        position += 1
        return true
    }

    /// Consumes the words before the next arrow, and the arrow.
    mutating func upToArrow() throws(Problem) -> LineWords {
        guard let arrow = words[position...].firstIndex(of: "=>") else { throw Problem("'=>' is missing") }
        let own = LineWords(words: Array(words[position..<arrow]))
        for index in position...arrow { used[index] = true }
        position = arrow + 1
        return own
    }

    var isAtEnd: Bool { position == words.count }

    /// The value of `key=value`; nil if the key is missing.
    mutating func value(_ key: String) throws(Problem) -> Substring? {
        var found: Substring?
        for index in position..<words.count where !used[index] {
            let word = words[index]
            guard word.utf8.starts(with: key.utf8),
                word.utf8.dropFirst(key.utf8.count).first == UInt8(ascii: "=")
            else { continue }
            guard found == nil else { throw Problem("\(key) is given twice") }
            used[index] = true
            found = Substring(word.utf8.dropFirst(key.utf8.count + 1))
        }
        return found
    }

    /// Whether the line has the flag; consumes it.
    mutating func flag(_ word: String) -> Bool {
        for index in position..<words.count where !used[index] && words[index] == word {
            used[index] = true
            return true
        }
        return false
    }

    /// Throws for words that were not consumed.
    func finish() throws(Problem) {
        if let index = used.firstIndex(of: false) {
            throw Problem("what does '\(Self.shown(words[index]))' mean here?")
        }
    }

    /// A short excerpt for an error message.
    static func shown(_ word: Substring) -> String {
        word.count > 40 ? String(word.prefix(40)) + "…" : String(word)
    }
}

extension LineWords {
    mutating func number<Number: FixedWidthInteger>(
        _ key: String, _ type: Number.Type = Number.self
    ) throws(Problem) -> Number? {
        guard let text = try value(key) else { return nil }
        return try Self.number(text, key)
    }

    static func number<Number: FixedWidthInteger>(_ text: Substring, _ what: String) throws(Problem) -> Number
    {
        guard let number = Number(text) else {
            throw Problem("\(what): '\(shown(text))' is not a number in range")
        }
        return number
    }

    mutating func text(_ key: String) throws(Problem) -> String? {
        guard let word = try value(key) else { return nil }
        return try Self.text(word, key)
    }

    static func text(_ word: Substring, _ what: String) throws(Problem) -> String {
        guard let text = RecordingEscape.decoded(word) else {
            throw Problem("\(what): '\(shown(word))' is not escaped as it should be")
        }
        return text
    }

    mutating func required<Value>(_ what: String, _ value: Value?) throws(Problem) -> Value {
        guard let value else { throw Problem("\(what)= is missing") }
        return value
    }

    mutating func address(_ key: String) throws(Problem) -> IPAddress? {
        guard let text = try value(key) else { return nil }
        return try Self.address(text)
    }

    static func address(_ text: Substring) throws(Problem) -> IPAddress {
        guard text.utf8.count <= 45, let address = IPAddress(String(text)) else {
            throw Problem("'\(shown(text))' is not an address")
        }
        return address
    }

    mutating func prefix() throws(Problem) -> IPPrefix {
        let text = try next("a prefix")
        guard text.utf8.count <= 49, let prefix = IPPrefix(String(text)) else {
            throw Problem("'\(Self.shown(text))' is not a prefix")
        }
        return prefix
    }

    mutating func duration(_ key: String) throws(Problem) -> Duration? {
        guard let text = try value(key) else { return nil }
        return try Self.duration(text, key)
    }

    // The state machine multiplies durations; longer ones would overflow there.
    private static let longestDuration: UInt64 = 1 << 40

    /// Seconds with up to eighteen fractional digits.
    static func duration(_ text: Substring, _ what: String) throws(Problem) -> Duration {
        let isNegative = text.first == "-"
        let parts = text.dropFirst(isNegative ? 1 : 0).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2,
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy({ (48...57).contains($0) }) }),
            let seconds = Int64((isNegative ? "-" : "") + parts[0]), seconds.magnitude <= longestDuration,
            parts.count == 1 || parts[1].utf8.count <= 18
        else { throw Problem("\(what): '\(shown(text))' is not a number of seconds") }
        var fraction: Int64 = 0
        if parts.count == 2 {
            for byte in parts[1].utf8 { fraction = fraction * 10 + Int64(byte - 48) }
            for _ in parts[1].utf8.count..<18 { fraction *= 10 }
        }
        return Duration(secondsComponent: seconds, attosecondsComponent: isNegative ? -fraction : fraction)
    }

    mutating func family(_ text: Substring) throws(Problem) -> IPAddress.Family {
        guard let family = IPAddress.Family(rawValue: String(text)) else {
            throw Problem("'\(Self.shown(text))' is neither ipv4 nor ipv6")
        }
        return family
    }

    mutating func flags<Flags: OptionSet>(
        _ words: [(word: String, flag: Flags)]
    ) throws(Problem) -> Flags? where Flags.RawValue == UInt32 {
        guard let text = try value("flags") else { return nil }
        var bits: UInt32 = 0
        for part in text.split(separator: ",") {
            if let known = words.first(where: { $0.word == part }) {
                bits |= known.flag.rawValue
            } else if part.hasPrefix("0x"), let rest = UInt32(part.dropFirst(2), radix: 16) {
                bits |= rest
            } else {
                throw Problem("there is no flag '\(Self.shown(part))'")
            }
        }
        return Flags(rawValue: bits)
    }
}
