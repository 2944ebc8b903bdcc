// SPDX-License-Identifier: Apache-2.0

/// The validator of `ETag` (RFC 9110 §8.8.3): an opaque name for one state of a resource.
package struct EntityTag: Sendable, Equatable {
    /// Whether two bodies with this tag may differ in their bytes.
    package let isWeak: Bool
    /// The name with its quotation marks.
    package let opaque: String

    /// Reads `"name"` or `W/"name"`; nil for anything else.
    package init?(_ text: String) {
        var rest = text.trimmingBlanks
        isWeak = rest.hasPrefix("W/")
        if isWeak { rest = rest.dropFirst(2) }
        let inner = rest.utf8.dropFirst().dropLast()
        guard rest.utf8.count >= 2, rest.hasPrefix("\""), rest.hasSuffix("\""),
            inner.allSatisfy({ $0 == 0x21 || $0 >= 0x23 && $0 != 0x7F })
        else { return nil }
        opaque = String(rest)
    }

    /// As it is sent.
    package var text: String { isWeak ? "W/\(opaque)" : opaque }

    /// Whether both name the very same bytes (RFC 9110 §8.8.3.2).
    package func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && opaque == other.opaque
    }

    /// Whether both name states that are as good as each other (RFC 9110 §8.8.3.2).
    package func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }
}
