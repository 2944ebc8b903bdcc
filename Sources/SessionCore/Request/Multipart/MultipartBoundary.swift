// SPDX-License-Identifier: Apache-2.0

/// The line between the parts of a multipart body (RFC 2046 §5.1.1): `Boundary+` and 16 hexadecimal digits.
public struct MultipartBoundary: Sendable, Hashable, CustomStringConvertible {
    /// The boundary without the hyphens before it.
    public let description: String

    /// A random boundary, another one for each form: with 64 random bits, none that occurs in the content.
    public init() { self.init(UInt64.random(in: 0...UInt64.max)) }

    /// The boundary with these digits, for tests and reproducible bodies.
    public init(_ number: UInt64) {
        let digits = String(number, radix: 16, uppercase: true)
        description = "Boundary+" + String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
