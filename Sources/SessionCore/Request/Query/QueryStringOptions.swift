// SPDX-License-Identifier: Apache-2.0

/// How parameters are written into a query or form, where servers differ.
///
/// The defaults are AFNetworking's: `k[]=1`, truth as `1` and `0`, a bare name for null, `%20`, sorted names.
public struct QueryStringOptions: Sendable, Hashable {
    /// How the elements of an array are named; ``ArrayStyle/brackets``.
    public var arrays = ArrayStyle.brackets
    /// How the names of nested values are joined; ``NestingStyle/brackets``.
    public var nesting = NestingStyle.brackets
    /// How truth values are written; ``BoolStyle/numeric``.
    public var bools = BoolStyle.numeric
    /// How bytes are written; ``ParameterDataStyle/base64``.
    public var data = ParameterDataStyle.base64
    /// How points in time are written; ``ParameterDateStyle/iso8601``.
    public var dates = ParameterDateStyle.iso8601
    /// How names are changed; ``KeyStyle/unchanged``.
    public var keys = KeyStyle.unchanged
    /// What becomes of nulls; ``NullStyle/nameAlone``.
    public var nulls = NullStyle.nameAlone
    /// What becomes of spaces; ``SpaceStyle/percent``.
    public var spaces = SpaceStyle.percent
    /// Whether names are sorted, so that the same parameters always make the same text; true.
    ///
    /// Otherwise they come in the order of the dictionary, another one in each run.
    public var sortsKeys = true

    /// The defaults.
    public init() {}

    /// How the elements of an array are named.
    public enum ArrayStyle: String, Sendable, Codable, CaseIterable {
        /// `k[]=1&k[]=2`.
        case brackets
        /// `k=1&k=2`.
        case repeated
        /// `k[0]=1&k[1]=2`: keeps dictionaries inside arrays together.
        case indexed
    }

    /// How the names of nested values are joined.
    public enum NestingStyle: String, Sendable, Codable, CaseIterable {
        /// `a[b]=1`.
        case brackets
        /// `a.b=1`.
        case dots
    }

    /// How truth values are written.
    public enum BoolStyle: String, Sendable, Codable, CaseIterable {
        /// `1` and `0`.
        case numeric
        /// `true` and `false`.
        case literal
    }

    /// What becomes of nulls.
    public enum NullStyle: String, Sendable, Codable, CaseIterable {
        /// `k`, without `=`.
        case nameAlone
        /// Nothing.
        case dropKey
        /// `k=`.
        case dropValue
        /// `k=null`.
        case literal
    }

    /// What becomes of spaces.
    public enum SpaceStyle: String, Sendable, Codable, CaseIterable {
        /// `%20`.
        case percent
        /// `+`.
        case plus
    }
}

extension QueryStringOptions: Codable {
    private enum CodingKeys: CodingKey {
        case arrays, nesting, bools, data, dates, keys, nulls, spaces, sortsKeys
    }

    /// Reads what is there; the rest has its default.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        arrays = try values.decodeIfPresent(ArrayStyle.self, forKey: .arrays) ?? arrays
        nesting = try values.decodeIfPresent(NestingStyle.self, forKey: .nesting) ?? nesting
        bools = try values.decodeIfPresent(BoolStyle.self, forKey: .bools) ?? bools
        data = try values.decodeIfPresent(ParameterDataStyle.self, forKey: .data) ?? data
        dates = try values.decodeIfPresent(ParameterDateStyle.self, forKey: .dates) ?? dates
        keys = try values.decodeIfPresent(KeyStyle.self, forKey: .keys) ?? keys
        nulls = try values.decodeIfPresent(NullStyle.self, forKey: .nulls) ?? nulls
        spaces = try values.decodeIfPresent(SpaceStyle.self, forKey: .spaces) ?? spaces
        sortsKeys = try values.decodeIfPresent(Bool.self, forKey: .sortsKeys) ?? sortsKeys
    }
}

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

    /// Words begin at a capital after a small letter, and at the last capital of several before a small
    /// letter: `myURLProperty` is `my_url_property`, as `JSONEncoder` has it.
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
