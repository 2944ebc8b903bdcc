// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Which file it is, whatever its name.
package struct FileIdentity: Equatable {
    private var device: UInt64 = 0
    private var number: UInt64 = 0

    /// The file that has this name now.
    package init(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }

    /// The file that is open.
    package init(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return }
        (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }

    /// Whether the file with this name is there and the same.
    package func isSame(as path: String) -> Bool { !isMissing && self == FileIdentity(path) }

    /// Whether nothing has the name.
    package var isMissing: Bool { number == 0 }
}
