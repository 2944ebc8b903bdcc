// SPDX-License-Identifier: Apache-2.0

/// How the names of parameters are changed before they are written.
public enum KeyStyle: String, Sendable, Codable, CaseIterable {
    /// As they are.
    case unchanged
    /// `oneTwo` becomes `one_two`.
    case snakeCase
    /// `oneTwo` becomes `one-two`.
    case kebabCase
    /// `oneTwo` becomes `OneTwo`.
    case capitalized
    /// `oneTwo` becomes `ONETWO`.
    case uppercased
    /// `oneTwo` becomes `onetwo`.
    case lowercased

    /// The changed name.
    func apply(to name: String) -> String {
        switch self {
        case .unchanged: name
        case .snakeCase: Self.separated(name, by: "_")
        case .kebabCase: Self.separated(name, by: "-")
        case .capitalized: name.prefix(1).uppercased() + name.dropFirst()
        case .uppercased: name.uppercased()
        case .lowercased: name.lowercased()
        }
    }

    /// Words begin at a capital after a small letter, and at the last capital of several before a small letter: `myURLProperty` is
    /// `my_url_property`, as `JSONEncoder` has it.
    private static func separated(_ name: String, by separator: Unicode.Scalar) -> String {
        let scalars = Array(name.unicodeScalars)
        var words = String.UnicodeScalarView()
        for (index, scalar) in scalars.enumerated() {
            if index > 0, scalar.properties.isUppercase {
                let follows = !scalars[index - 1].properties.isUppercase && scalars[index - 1] != separator
                let leads = index + 1 < scalars.count && scalars[index + 1].properties.isLowercase
                if follows || leads && scalars[index - 1].properties.isUppercase { words.append(separator) }
            }
            words.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
        }
        return String(words)
    }
}
