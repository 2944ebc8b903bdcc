// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The only owner of an open descriptor; closes it when released.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// Valid as long as the owner lives.
    package let number: Int32

    /// Takes ownership of an open descriptor.
    package init(adopting number: Int32) { self.number = number }

    /// Takes ownership of a system call's result.
    ///
    /// - Throws: the call's name with the current errno(3) if the number is negative.
    package init(_ operation: String, _ number: Int32) throws(ReactorError) {
        guard number >= 0 else { throw ReactorError(operation, errno: errno) }
        self.number = number
    }

    /// Gives up ownership without closing.
    package consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }

    // Not repeated on EINTR: Linux has released the number by then (close(2)), and another thread may own it.
    deinit { _ = close(number) }
}
