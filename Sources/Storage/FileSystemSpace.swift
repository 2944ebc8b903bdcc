// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The space of a file system (statvfs(3)), in bytes.
///
/// Bounded, since a file system over the network or in user space may report any number.
package struct FileSystemSpace: Sendable, Equatable {
    /// What is free for users without privileges.
    package let free: UInt64
    package let size: UInt64

    /// The space where a path lies; nil with `errno` if that cannot be determined.
    package init?(path: String) {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The same for an open file or folder.
    package init?(descriptor: Int32) {
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: statvfs) {
        self.init(
            blockSize: UInt64(status.f_frsize), free: UInt64(status.f_bavail),
            blocks: UInt64(status.f_blocks))
    }

    package init(blockSize: UInt64, free: UInt64, blocks: UInt64) {
        func bytes(_ count: UInt64) -> UInt64 {
            let (bytes, isMore) = count.multipliedReportingOverflow(by: blockSize)
            return isMore ? .max : bytes
        }
        self.free = bytes(free)
        size = bytes(blocks)
    }
}
