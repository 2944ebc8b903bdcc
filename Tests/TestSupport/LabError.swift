// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Why the lab failed.
package struct LabError: Error, Sendable, CustomStringConvertible {
    /// The operation and its result.
    package let description: String
    /// The errno(3), where there is one.
    package let errno: Int32

    package init(_ description: String) {
        self.description = description
        errno = 0
    }

    package init(_ operation: String, errno: Int32) {
        description = "\(operation): \(String(cString: strerror(errno)))"
        self.errno = errno
    }
}
