// SPDX-License-Identifier: Apache-2.0

import CZlib
public import FoundationEssentials
import Glibc
public import SessionCore

/// Makes content smaller in a way that HTTP has a name for (RFC 9110 §8.4.1).
public enum ContentCompression: String, Sendable, Codable, CaseIterable {
    /// `gzip` (RFC 1952).
    case gzip
    /// `deflate`: the format of zlib (RFC 1950), not the bare stream that some servers take it for.
    case deflate

    /// The bytes, compressed.
    ///
    /// - Parameter level: 1 (fast) to 9 (small); others are moved into that range.
    /// - Throws: ``SessionError/Code/missingLibrary`` without zlib, ``SessionError/Code/outOfResources``.
    public func compress(_ data: Data, level: Int = 6) throws(SessionError) -> Data {
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        let level = Int32(min(9, max(1, level)))
        let result = data.withUnsafeBytes { input in
            czlib_compress(
                input.bindMemory(to: UInt8.self).baseAddress, input.count, self == .gzip, level, &bytes,
                &count)
        }
        switch result {
        case CZLIB_OK:
            guard let bytes else { return Data() }
            return Data(bytesNoCopy: bytes, count: count, deallocator: .free)
        case CZLIB_MISSING:
            throw SessionError(
                .missingLibrary, "zlib (libz.so.1) cannot be opened", advice: "install zlib1g",
                domain: .requestSerialization)
        case CZLIB_OUT_OF_MEMORY:
            throw SessionError(
                .outOfResources, "there is no memory to compress \(data.count) bytes",
                advice: "send the body from a file", domain: .requestSerialization)
        default:
            throw SessionError(.unknown, "zlib cannot compress the body", domain: .requestSerialization)
        }
    }
}
