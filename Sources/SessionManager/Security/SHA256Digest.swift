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
