// SPDX-License-Identifier: Apache-2.0

/// Text for places that take ASCII alone.
enum ASCIIText {
    /// Latin letters without their marks; what has no counterpart is left out.
    ///
    /// A table of Latin-1 and Latin Extended-A instead of ICU, which would weigh 44 MB.
    static func transliterated(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        var plain = ""
        for scalar in text.unicodeScalars {
            if scalar.isASCII {
                plain.unicodeScalars.append(scalar)
            } else if let pair = pairs[scalar] {
                plain += pair
            } else if scalar.value >= 0xC0, Int(scalar.value) - 0xC0 < letters.count {
                let letter = letters[Int(scalar.value) - 0xC0]
                if letter != UInt8(ascii: " ") { plain.unicodeScalars.append(Unicode.Scalar(letter)) }
            }
        }
        return plain
    }

    /// For U+00C0 to U+017F, one each; a space where there is none.
    private static let letters = Array(
        ("AAAAAA CEEEEIIIIDNOOOOO OUUUUY  aaaaaa ceeeeiiiidnooooo ouuuuy y"
            + "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIi  JjKk LlLlLlL"
            + "lLlNnNnNn   OoOoOo  RrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs").utf8)
    private static let pairs: [Unicode.Scalar: String] = [
        "Æ": "AE", "æ": "ae", "Þ": "Th", "þ": "th", "ß": "ss", "Œ": "OE", "œ": "oe", "Ĳ": "IJ", "ĳ": "ij",
        "Ŋ": "NG", "ŋ": "ng", "ĸ": "k", "ŉ": "n",
    ]
}
