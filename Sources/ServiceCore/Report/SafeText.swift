// SPDX-License-Identifier: Apache-2.0

/// Makes untrusted text (names, SSIDs, answers of name servers) safe for a terminal.
package enum SafeText {
    /// Whether a character controls a terminal or the direction of text.
    package static func steers(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0..<0x20, 0x7F..<0xA0: true
        // Direction marks, embeddings, overrides and isolates (Unicode UAX #9), and the two line separators.
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        // Invisible characters that only make two names look the same.
        case 0x200B, 0x2060...0x2064, 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F: true
        default: false
        }
    }

    /// The text with control characters replaced; for terminals without Unicode, everything but ASCII as
    /// well.
    package static func clean(_ text: String, unicode: Bool) -> String {
        let isPlain = text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
        if isPlain { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if steers(scalar.value) || (!unicode && scalar.value > 0x7E) {
                result.append(
                    contentsOf: unicode ? "\u{FFFD}".unicodeScalars : replacement(scalar).unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// An untrusted name in quotation marks, which it cannot end itself.
    package static func quoted(_ name: String) -> String {
        var result = "\""
        for character in name.unicodeScalars {
            if character == "\"" || character == "\\" { result += "\\" }
            result.unicodeScalars.append(character)
        }
        return result + "\""
    }

    // The program's own marks have a plain spelling.
    private static func replacement(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "→": "->"
        case "–", "−": "-"
        case "…": "..."
        default: "?"
        }
    }

    /// The width of the text in a terminal's columns.
    package static func width(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.unicodeScalars.reduce(0) { $0 + width($1) }
    }

    // Two columns for East Asian wide characters and pictures (Unicode UAX #11), none for combining marks.
    private static func width(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF,
            0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            2
        case 0x200B...0x200D, 0xFE00...0xFE0F: 0
        default:
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark: 0
            default: 1
            }
        }
    }
}
