// SPDX-License-Identifier: Apache-2.0

import CLinux
import CTestSupport
import EventLoop
import Glibc

/// A nameless file in memory: a child's input, or its output so far.
final class LabFile: Sendable {
    let descriptor: OwnedDescriptor

    /// A file with this content, to be read from its beginning.
    convenience init(_ content: String = "") throws(ReactorError) {
        try self.init(bytes: Array(content.utf8))
    }

    /// A file with these bytes, to be read from its beginning.
    init(bytes: [UInt8]) throws(ReactorError) {
        descriptor = try OwnedDescriptor("memfd_create", clinux_memfd_create("lab"))
        var bytes = bytes[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(descriptor.number, $0.baseAddress, $0.count) }
            guard count >= 0 else { throw ReactorError("write", errno: errno) }
            bytes = bytes.dropFirst(count)
        }
        lseek(descriptor.number, 0, SEEK_SET)
    }

    /// The whole content; does not move the position of the next write.
    var content: String { String(decoding: bytes, as: UTF8.self) }

    /// The content as bytes.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = pread(descriptor.number, &buffer, buffer.count, bytes.count)
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
    }
}
