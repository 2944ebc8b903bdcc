// SPDX-License-Identifier: Apache-2.0

/// A shell pattern for names of interfaces: `*`, `?`, `[a-z]`, `[!0-9]`, and `\` before a character that is
/// meant literally.
///
/// It matches what fnmatch(3) matches without flags, which systemd-networkd-wait-online uses for `--ignore`;
/// classes such as `[:digit:]` are the exception. The time is linear in both lengths, since patterns come
/// from clients of the service too.
package struct InterfacePattern: Sendable, Hashable, CustomStringConvertible {
    private enum Part: Sendable, Hashable {
        /// `*`
        case anything
        /// `?`
        case one
        case character(Unicode.Scalar)
        case set([ClosedRange<Unicode.Scalar>], isNegated: Bool)

        func matches(_ character: Unicode.Scalar) -> Bool {
            switch self {
            case .anything, .one: true
            case .character(let own): own == character
            case .set(let ranges, let isNegated): ranges.contains { $0.contains(character) } != isNegated
            }
        }
    }

    /// The pattern as written.
    package let description: String
    private let parts: [Part]

    /// The longest pattern, in bytes.
    package static let longest = 64

    /// Nil for an empty pattern, a longer one than ``longest``, and one with a slash, which no name has.
    package init?(_ text: String) {
        guard (1...Self.longest).contains(text.utf8.count), !text.utf8.contains(UInt8(ascii: "/")) else {
            return nil
        }
        description = text
        let scalars = Array(text.unicodeScalars)
        var parts: [Part] = []
        var index = 0
        while index < scalars.count {
            let character = scalars[index]
            index += 1
            switch character {
            case "*": parts.append(.anything)
            case "?": parts.append(.one)
            case "\\" where index < scalars.count:
                parts.append(.character(scalars[index]))
                index += 1
            case "[":
                // Without its end the bracket stands for itself.
                guard let (set, end) = Self.set(in: scalars, from: index) else { fallthrough }
                parts.append(set)
                index = end
            default: parts.append(.character(character))
            }
        }
        self.parts = parts
    }

    /// The set behind a bracket, and the index behind its end; nil if it has none.
    private static func set(in text: [Unicode.Scalar], from start: Int) -> (Part, Int)? {
        var index = start
        let isNegated = index < text.count && (text[index] == "!" || text[index] == "^")
        if isNegated { index += 1 }
        let first = index
        func member() -> Unicode.Scalar? {
            if index < text.count, text[index] == "\\" { index += 1 }
            guard index < text.count else { return nil }
            defer { index += 1 }
            return text[index]
        }
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        // A bracket at the first index is a member.
        while index < text.count, text[index] != "]" || index == first {
            guard let low = member() else { return nil }
            var high = low
            if index + 1 < text.count, text[index] == "-", text[index + 1] != "]" {
                index += 1
                guard let end = member() else { return nil }
                high = end
            }
            if low <= high { ranges.append(low...high) }
        }
        return index < text.count ? (.set(ranges, isNegated: isNegated), index + 1) : nil
    }

    /// Whether the pattern matches the whole name.
    package func matches(_ name: String) -> Bool {
        let name = Array(name.unicodeScalars)
        var (part, position) = (0, 0)
        // The last `*`, and the first character behind what it stands for.
        var star: (part: Int, position: Int)?
        while position < name.count {
            if part < parts.count, parts[part] == .anything {
                star = (part, position)
                part += 1
            } else if part < parts.count, parts[part].matches(name[position]) {
                part += 1
                position += 1
            } else if let last = star {
                star = (last.part, last.position + 1)
                (part, position) = (last.part + 1, last.position + 1)
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy { $0 == .anything }
    }
}
