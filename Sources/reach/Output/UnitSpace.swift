// SPDX-License-Identifier: Apache-2.0

/// The space between a number and its unit, at which no line is broken: "12.3 MB", "3.4 s", "43 %".
enum UnitSpace {
    private static let units: Set<Substring> = [
        "B", "kB", "MB", "GB", "TB", "B/s", "kB/s", "MB/s", "GB/s", "ms", "s", "min", "h", "d", "%", "dBm",
    ]
    private static let mark: Character = "\u{A0}"

    /// The text with these spaces as ones that belong to the word.
    static func kept(in text: String) -> String {
        var result = ""
        var isNumber = false
        for (index, word) in text.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
            if index > 0 { result.append(isNumber && isUnit(word) ? mark : " ") }
            result += word
            isNumber = self.isNumber(word)
        }
        return result
    }

    /// The text as it is to be written.
    static func shown(_ text: String) -> String { String(text.map { $0 == mark ? " " : $0 }) }

    private static func isNumber(_ word: Substring) -> Bool {
        let digits = word.drop { $0 == "(" || $0 == "-" }
        return !digits.isEmpty && digits.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
    }

    private static func isUnit(_ word: Substring) -> Bool {
        let end = word.lastIndex { !",;:.)".contains($0) }
        return end.map { units.contains(word[...$0]) } ?? false
    }
}
