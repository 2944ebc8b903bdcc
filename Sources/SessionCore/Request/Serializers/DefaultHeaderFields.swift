// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
public import HTTPTypes

/// The header fields that a serializer starts with: `Accept-Language` and `User-Agent`.
public struct DefaultHeaderFields: Sendable, Equatable {
    /// The languages that the user prefers, the first most.
    public var languages: [String]
    /// Who sends.
    public var userAgent: UserAgent

    /// Fields for these languages and this program.
    public init(languages: [String], userAgent: UserAgent) {
        self.languages = languages
        self.userAgent = userAgent
    }

    /// The fields of this process, read from its environment once.
    public static let current = DefaultHeaderFields(
        languages: PreferredLanguages.read(ProcessInfo.processInfo.environment), userAgent: .current
    ).fields

    /// The fields.
    public var fields: HTTPFields {
        var fields = HTTPFields()
        let languages = PreferredLanguages.acceptLanguage(languages)
        if !languages.isEmpty { fields[.acceptLanguage] = languages }
        fields[.userAgent] = userAgent.description
        return fields
    }
}

/// Languages by locale(7) and RFC 9110 §12.5.4.
public enum PreferredLanguages {
    /// The languages that an environment asks for: those of `LANGUAGE`, else that of `LC_ALL`, `LC_MESSAGES` or `LANG`.
    ///
    /// `de_AT.UTF-8@euro` is `de-AT`. The locales `C` and `POSIX` speak English: `en`, also where nothing is set.
    public static func read(_ environment: [String: String]) -> [String] {
        let variables = ["LC_ALL", "LC_MESSAGES", "LANG"]
        let list = environment["LANGUAGE"].map { $0.split(separator: ":").compactMap(tag) } ?? []
        if !list.isEmpty { return list }
        let locale = variables.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        return [locale.flatMap { tag($0[...]) } ?? "en"]
    }

    /// The field's value: at most six languages, with weights from 1 down to 0.5.
    public static func acceptLanguage(_ languages: [String]) -> String {
        languages.prefix(6).enumerated()
            .map { index, language in "\(language);q=\(index == 0 ? "1" : "0.\(10 - index)")" }
            .joined(separator: ", ")
    }

    /// The language tag (RFC 5646) of a locale's name; nil for one that has none.
    private static func tag(_ locale: Substring) -> String? {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        let subtags = name.split(omittingEmptySubsequences: false) { $0 == "_" || $0 == "-" }
        let isTag = subtags.allSatisfy { subtag in
            (1...8).contains(subtag.utf8.count)
                && subtag.utf8.allSatisfy { byte in
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
                }
        }
        guard isTag, subtags[0].utf8.count > 1, name != "POSIX" else { return nil }
        return subtags.joined(separator: "-")
    }
}
