// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// Who sends a request: the value of `User-Agent` (RFC 9110 §10.1.5).
public struct UserAgent: Sendable, Equatable, CustomStringConvertible {
    /// The program's name.
    public var program: String
    /// The program's version; nil where nobody knows it.
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
            let isAlphanumeric = (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
            return isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte) ? byte : UInt8(ascii: "-")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
