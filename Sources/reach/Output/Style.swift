// SPDX-License-Identifier: Apache-2.0

import ServiceCore

/// The style of text for people: colours, marks and widths.
struct Style: Sendable, Hashable {
    /// Whether escape codes for colour are written.
    var hasColor = false
    /// Whether the terminal shows more than ASCII.
    var isUnicode = true
    /// Whether marks, bars and arrows are used; else words, for screen readers.
    var hasMarks = true
    /// The columns of the terminal; nil for unbroken lines.
    var width: Int?

    /// The meaning of a piece of text, for its colour.
    ///
    /// Colour never says anything that the words do not.
    enum Tone: Sendable, Hashable {
        case plain, good, bad, doubtful, minor, strong

        /// The code of "Select Graphic Rendition" (ECMA-48 §8.3.117).
        fileprivate var code: String {
            switch self {
            case .plain: "0"
            case .good: "32"
            case .bad: "31"
            case .doubtful: "33"
            case .minor: "2"
            case .strong: "1"
            }
        }
    }

    /// The text in its colour, without control characters.
    func text(_ text: String, _ tone: Tone = .plain) -> String {
        let safe = clean(text)
        guard hasColor, tone != .plain, !safe.isEmpty else { return safe }
        return "\u{1B}[\(tone.code)m\(safe)\u{1B}[0m"
    }

    /// Removes control characters, and replaces arrows by words if necessary.
    private func clean(_ text: String) -> String {
        guard !hasMarks, text.unicodeScalars.contains("→") else {
            return SafeText.clean(text, unicode: isUnicode)
        }
        let words = text.unicodeScalars.map { $0 == "→" ? "to" : String($0) }.joined()
        return SafeText.clean(words, unicode: isUnicode)
    }

    /// A part of a line in one tone.
    typealias Piece = (text: String, tone: Tone)

    /// A line of pieces, broken at spaces if it is wider than the terminal; without a line feed at its end.
    ///
    /// - Parameter indent: the indent of further lines; smaller on a narrow terminal.
    func line(_ pieces: [Piece], indent: Int) -> String {
        guard let width else { return pieces.map { text($0.text, $0.tone) }.joined() }
        var layout = Layout(style: self, width: width, indent: indent * 2 > width ? 4 : indent)
        for piece in pieces { layout.append(piece) }
        return layout.finish()
    }

    /// A sentence for people, broken at spaces if it is wider than the terminal; further lines are indented
    /// to its start.
    ///
    /// - Parameter head: the text before it, for example `reach: `.
    func sentence(_ sentence: String, after head: String = "") -> String {
        line([(head + sentence, .plain)], indent: head.count)
    }

    /// Lays out words and the spaces between them; a word may have pieces of different tones.
    private struct Layout {
        let style: Style
        let width: Int
        let indent: Int
        private var result = ""
        private var run: Piece = ("", .plain)
        private var gap: [Piece] = []
        private var word: [Piece] = []
        private var column = 0
        private var isAtStart = true

        init(style: Style, width: Int, indent: Int) {
            self.style = style
            self.width = width
            self.indent = indent
        }

        mutating func append(_ piece: Piece) {
            var rest = UnitSpace.kept(in: style.clean(piece.text))[...]
            while let first = rest.first {
                let isGap = first == " "
                let part = rest.prefix { ($0 == " ") == isGap }
                if isGap {
                    appendWord()
                    gap.append((String(part), piece.tone))
                } else {
                    word.append((String(part), piece.tone))
                }
                rest = rest[part.endIndex...]
            }
        }

        mutating func finish() -> String {
            appendWord()
            endRun()
            return result
        }

        private mutating func appendWord() {
            guard !word.isEmpty else { return }
            let (space, length) = (Self.width(gap), Self.width(word))
            // A path or key that is longer than a line stays in place, and the terminal breaks it.
            let isTooLong = indent + length > width
            if !isAtStart, column + space + length > width, !isTooLong {
                endRun()
                result += "\n" + String(repeating: " ", count: indent)
                column = indent
            } else {
                for piece in gap { extend(piece) }
                column += space
            }
            for piece in word { extend(piece) }
            column += length
            if isTooLong, column > width { column = (column - 1) % width + 1 }
            isAtStart = false
            gap = []
            word = []
        }

        private mutating func extend(_ piece: Piece) {
            if piece.tone != run.tone { endRun() }
            run = (run.text + piece.text, piece.tone)
        }

        private mutating func endRun() {
            result += style.text(UnitSpace.shown(run.text), run.tone)
            run = ("", run.tone)
        }

        private static func width(_ pieces: [Piece]) -> Int {
            pieces.reduce(0) { $0 + SafeText.width($1.text) }
        }
    }

    /// The marks beside statuses and links.
    enum Mark: Sendable { case online, offline, failed, unknown }

    /// A mark as one character and a space; empty without marks, so the words beside it have to say the same.
    func mark(_ mark: Mark) -> String {
        guard hasMarks else { return "" }
        let sign =
            switch mark {
            case .online: isUnicode ? "●" : "*"
            case .offline: isUnicode ? "○" : "-"
            case .failed: isUnicode ? "✗" : "x"
            case .unknown: "?"
            }
        return sign + " "
    }

    /// Breaks text at spaces so that each line fits between `indent` and the right edge.
    ///
    /// The caller indents the lines after the first. A word longer than a line stays whole.
    func wrap(_ text: String, indent: Int) -> [String] {
        let safe = clean(text)
        guard let width, width > indent else { return [safe] }
        var lines: [String] = []
        var line = ""
        var used = 0
        for word in UnitSpace.kept(in: safe).split(separator: " ") {
            let length = SafeText.width(String(word))
            if used > 0, used + 1 + length > width - indent {
                lines.append(line)
                line = ""
                used = 0
            }
            if used > 0 {
                line += " "
                used += 1
            }
            line += word
            used += length
        }
        if used > 0 || lines.isEmpty { lines.append(line) }
        return lines.map(UnitSpace.shown)
    }
}

/// Keeps a number and its unit on one line: "12.3 MB", "3.4 s", "43 %".
enum UnitSpace {
    private static let units: Set<Substring> = [
        "B", "kB", "MB", "GB", "TB", "B/s", "kB/s", "MB/s", "GB/s", "ms", "s", "min", "h", "d", "%", "dBm",
    ]
    private static let mark: Character = "\u{A0}"

    /// Replaces the spaces before units by no-break spaces.
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

    /// Replaces the no-break spaces by spaces, for the output.
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
