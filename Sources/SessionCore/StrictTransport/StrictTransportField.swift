// SPDX-License-Identifier: Apache-2.0

/// The value of a field `Strict-Transport-Security` (RFC 6797 §6.1).
package struct StrictTransportField: Sendable {
    /// For how many seconds from now its host is spoken to by TLS alone; 0 ends that.
    package let maximumAge: Int64
    /// Whether that holds for the hosts below it as well.
    package let includesSubdomains: Bool

    /// More directives are no field of a server that means well.
    private static let mostDirectives = 100
    /// The longest age; what ends after the year 9999 never ends.
    private static let longestAge: Int64 = 300_000_000_000

    /// Reads a value; nil where it breaks the grammar, repeats a directive or lacks `max-age`, and is to be
    /// ignored as a whole (§8.1).
    ///
    /// Directives that are not known are skipped.
    package init?(_ text: String) {
        var scanner = FieldScanner(text)
        var names: [String] = []
        var age: Int64?
        var includesSubdomains = false
        repeat {
            scanner.skipBlanks()
            guard let name = scanner.token()?.lowercased() else { continue }
            guard !names.contains(name), names.count < Self.mostDirectives else { return nil }
            names.append(name)
            scanner.skipBlanks()
            var value: String?
            if scanner.skip(UInt8(ascii: "=")) {
                scanner.skipBlanks()
                guard let text = scanner.tokenOrQuotedString() else { return nil }
                value = text
                scanner.skipBlanks()
            }
            switch name {
            case "max-age":
                guard let seconds = value.flatMap({ Self.seconds($0) }) else { return nil }
                age = seconds
            case "includesubdomains":
                guard value == nil else { return nil }
                includesSubdomains = true
            default: break
            }
        } while scanner.skip(UInt8(ascii: ";"))
        guard scanner.isAtEnd, let age else { return nil }
        maximumAge = age
        self.includesSubdomains = includesSubdomains
    }

    /// A number without a sign (delta-seconds, RFC 9111 §1.2.2); one that is too large is the longest age.
    private static func seconds(_ text: String) -> Int64? {
        guard !text.isEmpty else { return nil }
        var seconds: Int64 = 0
        for byte in text.utf8 {
            guard (0x30...0x39).contains(byte) else { return nil }
            seconds = min(seconds * 10 + Int64(byte - 0x30), longestAge)
        }
        return seconds
    }
}
