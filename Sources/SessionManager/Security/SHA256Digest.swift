// SPDX-License-Identifier: Apache-2.0

import CCurl
import COpenSSL
import EventLoop
import Glibc
package import SessionCore

/// The SHA-256 (FIPS 180-4) of bytes that come piece by piece, by the OpenSSL below libcurl.
package struct SHA256Digest: ~Copyable {
    private let context: OpaquePointer

    /// A digest of nothing yet.
    ///
    /// - Throws: ``SessionError/Code/missingLibrary`` without libcurl on OpenSSL 3,
    ///   ``SessionError/Code/outOfResources`` without memory.
    package init() throws(SessionError) {
        _ = try CurlLibrary.load()
        guard copenssl_load() else {
            throw SessionError(
                .missingLibrary,
                "a checksum needs OpenSSL below libcurl: \(String(cString: copenssl_load_message()))",
                advice: "install libcurl with OpenSSL 3 (on Debian: libcurl4), or use sha256sum(1)")
        }
        guard let context = copenssl_hash_new() else {
            throw SessionError(.outOfResources, "OpenSSL has no SHA-256 at hand", advice: "free some memory")
        }
        self.context = context
    }

    deinit { copenssl_hash_free(context) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        _ = copenssl_hash_update(context, bytes.baseAddress, bytes.count)
    }

    /// The 32 bytes of the hash.
    package consuming func finish() -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: 32)
        _ = copenssl_hash_finish(context, &hash)
        return hash
    }

    /// The hash of a file; nil where the Swift task was cancelled meanwhile.
    ///
    /// - Throws: what hinders reading the file, or as the initializer.
    package static func ofFile(_ path: String) throws(SessionError) -> [UInt8]? {
        var digest = try SHA256Digest()
        let number = open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw FileFailure.cannotRead(path, errno) }
        let file = OwnedDescriptor(adopting: number)
        let size = 1 << 18
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 64)
        defer { buffer.deallocate() }
        while !Task.isCancelled {
            let count = read(file.number, buffer.baseAddress, size)
            if count == 0 { return digest.finish() }
            if count > 0 {
                digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            } else if errno != EINTR {
                throw FileFailure.cannotRead(path, errno)
            }
        }
        return nil
    }
}

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
