// SPDX-License-Identifier: Apache-2.0

/// How text for people may look: the one place that knows about colours, marks and widths.
struct Style: Sendable, Hashable {
    /// Whether escape codes for colour are written.
    var hasColor = false
    /// Whether the terminal shows more than ASCII.
    var isUnicode = true
    /// The columns of the terminal; nil where lines are not to be broken.
    var width: Int?

    /// What a piece of text says, for its colour.
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

    /// The text in its colour; made safe in any case.
    func text(_ text: String, _ tone: Tone = .plain) -> String {
        let safe = SafeText.clean(text, unicode: isUnicode)
        guard hasColor, tone != .plain, !safe.isEmpty else { return safe }
        return "\u{1B}[\(tone.code)m\(safe)\u{1B}[0m"
    }

    /// The marks beside statuses and links.
    enum Mark: Sendable { case online, offline, failed, unknown }

    /// A mark as one character.
    func mark(_ mark: Mark) -> String {
        switch mark {
        case .online: isUnicode ? "●" : "*"
        case .offline: isUnicode ? "○" : "-"
        case .failed: isUnicode ? "✗" : "x"
        case .unknown: "?"
        }
    }

    /// Breaks text at spaces so that each line fits between `indent` and the right edge.
    ///
    /// Lines after the first are to be indented by the caller. A word that is longer than a line stays whole.
    func wrap(_ text: String, indent: Int) -> [String] {
        let safe = SafeText.clean(text, unicode: isUnicode)
        guard let width, width > indent else { return [safe] }
        var lines: [String] = []
        var line = ""
        var used = 0
        for word in safe.split(separator: " ") {
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
        return lines
    }
}
