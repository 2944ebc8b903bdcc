// SPDX-License-Identifier: Apache-2.0

/// Numbers and booleans of TOML.
enum TOMLNumber {
    static func value(_ word: String) -> TOMLValue? {
        switch word {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        default: break
        }
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where word.hasPrefix(prefix) {
            guard let digits = digits(word.dropFirst(2)), let number = Int64(digits, radix: radix) else {
                return nil
            }
            return .integer(number)
        }
        let isNegative = word.hasPrefix("-")
        let rest = word.hasPrefix("+") || isNegative ? word.dropFirst() : word[...]
        guard rest.utf8.first.map({ (48...57).contains($0) }) == true,
            rest == "0" || !rest.hasPrefix("0") || rest.hasPrefix("0.") || rest.hasPrefix("0e")
        else { return nil }
        let sign = isNegative ? "-" : ""
        if rest.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: "_") }) {
            guard let digits = digits(rest), let number = Int64(sign + digits) else { return nil }
            return .integer(number)
        }
        return fraction(rest).flatMap { Double(sign + $0) }.flatMap { $0.isFinite ? .float($0) : nil }
    }

    /// The text of a fraction without underscores; a point has digits on both sides.
    private static func fraction(_ text: Substring) -> String? {
        var result = ""
        var before: Character = " "
        for character in text + " " {
            switch character {
            case "0"..."9": if before == "_", result.last?.isNumber != true { return nil }
            case "_", ".", "e", "E", " ":
                guard ("0"..."9").contains(before) else { return nil }
            case "+", "-": guard before == "e" || before == "E" else { return nil }
            default: return nil
            }
            if character != "_", character != " " { result.append(character) }
            before = character
        }
        return result
    }

    /// The digits without underscores, which are allowed between two digits only.
    private static func digits(_ text: Substring) -> String? {
        var before: Character = "_"
        for character in text {
            if character == "_" ? before == "_" : !character.isHexDigit { return nil }
            before = character
        }
        return before == "_" ? nil : String(text.filter { $0 != "_" })
    }
}
