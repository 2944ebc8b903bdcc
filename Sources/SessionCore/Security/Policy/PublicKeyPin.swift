// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// The SHA-256 of a SubjectPublicKeyInfo (RFC 7469 §2.4), written as curl does: `sha256//BASE64`.
///
/// To print the pin of a server:
///
///     openssl s_client -connect host:443 </dev/null | openssl x509 -pubkey -noout \
///       | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64
public struct PublicKeyPin: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The 32 bytes of the hash.
    public let sha256: Data

    /// A pin from 32 bytes; nil for any other number.
    public init?(sha256: some Sequence<UInt8>) {
        let bytes = Data(sha256)
        guard bytes.count == 32 else { return nil }
        self.sha256 = bytes
    }

    /// A pin from its text: `sha256//` and 44 characters of base64, or those alone.
    ///
    /// Throws ``SessionError/Code/invalidSecurityPolicy`` for any other text.
    public init(_ text: some StringProtocol) throws(SessionError) {
        let prefix = "sha256//"
        let hash = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : String(text)
        guard let bytes = Data(base64Encoded: hash), let pin = PublicKeyPin(sha256: bytes) else {
            throw SessionError(
                .invalidSecurityPolicy, "\(TextQuote(String(text))) is no pin",
                advice: "a pin is sha256// and 44 characters of base64", domain: .security)
        }
        self = pin
    }

    /// Several pins in one text, separated by `;` as in curl's `--pinnedpubkey`.
    public static func list(_ text: some StringProtocol) throws(SessionError) -> Set<PublicKeyPin> {
        var pins: Set<PublicKeyPin> = []
        for part in text.split(separator: ";") { pins.insert(try PublicKeyPin(part.trimmingBlanks)) }
        return pins
    }

    /// `sha256//BASE64`.
    public var description: String { "sha256//\(sha256.base64EncodedString())" }

    /// Reads the text form.
    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
