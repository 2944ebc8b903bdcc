// SPDX-License-Identifier: Apache-2.0

/// Hides the secrets of a request in an answer that is stored: servers may repeat what they were sent.
enum SecretMask {
    /// The bytes with asterisks in the place of each secret of four bytes or more, as it was sent.
    static func masked(_ bytes: [UInt8], _ secrets: [String]) -> [UInt8] {
        secrets.map { Array($0.utf8) }.filter { $0.count >= 4 }.reduce(bytes) { hide($1, in: $0) }
    }

    private static func hide(_ secret: [UInt8], in bytes: [UInt8]) -> [UInt8] {
        var (masked, start) = ([UInt8](), 0)
        while let found = position(of: secret, in: bytes, from: start) {
            masked += bytes[start..<found] + Array("****".utf8)
            start = found + secret.count
        }
        return start == 0 ? bytes : masked + bytes[start...]
    }

    private static func position(of secret: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        var at = start
        while at + secret.count <= bytes.count {
            if bytes[at] == secret[0], bytes[at..<at + secret.count].elementsEqual(secret) { return at }
            at += 1
        }
        return nil
    }
}
