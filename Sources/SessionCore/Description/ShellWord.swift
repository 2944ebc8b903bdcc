// SPDX-License-Identifier: Apache-2.0

/// A word of a shell's command line that means exactly these bytes, and does nothing to a terminal that shows it.
package struct ShellWord: CustomStringConvertible {
    package let description: String

    /// Quotes bytes; nil where they have a NUL, which no argument can hold.
    ///
    /// Printable ASCII and UTF-8 text stand in single quotes (POSIX sh), others in `$'…'` (POSIX.1-2024, bash, zsh, ksh).
    package init?(_ bytes: some Collection<UInt8>) {
        guard !bytes.contains(0) else { return nil }
        if let text = String(validating: bytes, as: UTF8.self),
            text.unicodeScalars.allSatisfy(Self.isHarmless)
        {
            let isPlain =
                !bytes.isEmpty
                && bytes.allSatisfy { $0.isASCIIAlphanumeric || "-._/:=@%+,".utf8.contains($0) }
            description = isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
            return
        }
        var quoted = "$'"
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n"): quoted += "\\n"
            case UInt8(ascii: "\r"): quoted += "\\r"
            case UInt8(ascii: "\t"): quoted += "\\t"
            case UInt8(ascii: "'"), UInt8(ascii: "\\"): quoted += "\\" + String(UnicodeScalar(byte))
            case 0x20...0x7E: quoted += String(UnicodeScalar(byte))
            // Three octal digits: a hexadecimal escape would take in the digits that follow.
            default:
                let digits = String(byte, radix: 8)
                quoted += "\\" + String(repeating: "0", count: 3 - digits.utf8.count) + digits
            }
        }
        description = quoted + "'"
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate:
            false
        default: true
        }
    }
}
