// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore

extension SHA256Digest {
    /// The hash that 64 hexadecimal digits write, as sha256sum(1) prints it; nil for any other text.
    package static func parse(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 64, by: 2) {
            guard let high = digits[index].hexDigit, let low = digits[index + 1].hexDigit else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// A hash in the format of sha256sum(1).
    package static func text(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Compares a hash with what was expected.
    ///
    /// - Throws: ``SessionError/Code/checksumMismatch`` with both.
    package static func verify(_ hash: [UInt8], is expected: [UInt8]) throws(SessionError) {
        guard hash != expected else { return }
        throw SessionError(
            .checksumMismatch, "the content has the SHA-256 \(text(hash)) instead of \(text(expected))",
            advice: "check where the checksum is from; nothing was saved")
    }

    /// Compares a file with the text of a hash; nil where it is that.
    static func refusal(ofFile path: String, _ sha256: String) -> SessionError? {
        do throws(SessionError) {
            guard let expected = parse(sha256) else { throw invalid(sha256) }
            guard let hash = try ofFile(path) else {
                throw SessionError(.cancelled, "the checksum was not finished")
            }
            try verify(hash, is: expected)
            return nil
        } catch {
            return error
        }
    }

    /// The error of a text that is no hash.
    static func invalid(_ sha256: String) -> SessionError {
        SessionError(
            .checksumMismatch, "\(TextQuote(sha256)) is no SHA-256",
            advice: "give the 64 hexadecimal digits that sha256sum(1) prints")
    }
}
