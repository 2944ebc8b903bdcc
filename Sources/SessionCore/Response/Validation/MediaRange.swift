// SPDX-License-Identifier: Apache-2.0

/// A media type, or a family of them: `application/json`, `image/*`, `*/*` (RFC 9110 §12.5.1).
///
/// Kept in lower case and without parameters, so that equal ones are equal. A text without a slash stands for
/// exactly that text: some servers send `Content-Type: json`.
public struct MediaRange: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// `type/subtype` in lower case.
    public let description: String

    /// A range; parameters behind `;` are left out.
    public init(_ text: String) {
        description = text.prefix { $0 != ";" }.trimmingBlanks.lowercased()
    }

    /// A range.
    public init(stringLiteral value: String) { self.init(value) }

    /// Every type, and also none at all.
    public static let any: MediaRange = "*/*"

    /// Whether a type in lower case without parameters belongs to the range.
    func matches(_ type: String) -> Bool {
        if self == .any || description == type { return true }
        return description.hasSuffix("/*") && type.hasPrefix(description.dropLast())
    }

    /// The types of a structured suffix (RFC 6839): those of JSON for `application/problem+json`.
    static func generalTypes(of type: String) -> [String] {
        guard let slash = type.firstIndex(of: "/"), let plus = type.lastIndex(of: "+"), plus > slash else {
            return []
        }
        let suffix = type[type.index(after: plus)...]
        return suffix.isEmpty ? [] : ["application/\(suffix)", "text/\(suffix)"]
    }
}

extension MediaRange: Codable {
    /// Reads a text.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
