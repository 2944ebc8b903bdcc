// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
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
    /// The languages of an environment: those of `LANGUAGE`, else that of `LC_ALL`, `LC_MESSAGES` or `LANG`.
    ///
    /// `de_AT.UTF-8@euro` is `de-AT`; `C`, `POSIX` and nothing at all are `en`.
    public static func read(_ environment: [String: String]) -> [String] {
        let list = environment["LANGUAGE"].map { $0.split(separator: ":").compactMap(tag) } ?? []
        if !list.isEmpty { return list }
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }
            .first { !$0.isEmpty }
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
        let isTag = subtags.allSatisfy {
            (1...8).contains($0.utf8.count) && $0.utf8.allSatisfy(\.isASCIIAlphanumeric)
        }
        guard isTag, subtags[0].utf8.count > 1, name != "POSIX" else { return nil }
        return subtags.joined(separator: "-")
    }
}

/// Who sends a request: the value of `User-Agent` (RFC 9110 §10.1.5).
public struct UserAgent: Sendable, Equatable, CustomStringConvertible {
    /// The program's name.
    public var program: String
    /// The program's version; nil where it is unknown.
    public var version: String?
    /// What it runs on, the words in the brackets: `Linux 6.1.0; aarch64`.
    public var platform: String

    /// A program on a platform.
    public init(program: String, version: String? = nil, platform: String = UserAgent.platform) {
        self.program = program
        self.version = version
        self.platform = platform
    }

    /// This process, by its name, without a version: Linux keeps none for a program.
    public static let current = UserAgent(program: ProcessInfo.processInfo.processName)

    /// This machine: system, kernel release and architecture, by uname(2).
    public static let platform: String = {
        var names = utsname()
        guard uname(&names) == 0 else { return "Linux" }
        func text<Field>(_ field: Field) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return "\(text(names.sysname)) \(text(names.release)); \(text(names.machine))"
    }()

    /// The field's value, in ASCII: `program/version (platform)`.
    public var description: String {
        let product = Self.token(program)
        let version = version.map { "/\(Self.token($0))" } ?? ""
        let comment = ASCIIText.transliterated(platform).unicodeScalars.filter {
            $0.value >= 0x20 && $0.value < 0x7F && $0 != "(" && $0 != ")" && $0 != "\\"
        }
        return
            "\(product.isEmpty ? "unknown" : product)\(version) (\(String(String.UnicodeScalarView(comment))))"
    }

    /// What a product or version may consist of (RFC 9110 §5.6.2); the rest of ASCII becomes `-`.
    private static func token(_ text: String) -> String {
        let bytes = ASCIIText.transliterated(text).utf8.map { byte -> UInt8 in
            byte.isASCIIAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte) ? byte : UInt8(ascii: "-")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Text for fields that take ASCII alone.
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
