// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The one owner of an open descriptor: closes it when it goes away.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// The number; valid as long as the owner lives.
    package let number: Int32

    /// Takes over an open descriptor.
    package init(adopting number: Int32) { self.number = number }

    /// Takes over what a system call returned.
    ///
    /// - Throws: the call's name with the current errno(3) where the number is negative.
    package init(_ operation: String, _ number: Int32) throws(ReactorError) {
        guard number >= 0 else { throw ReactorError(operation, errno: errno) }
        self.number = number
    }

    /// Gives the descriptor away without closing it.
    package consuming func take() -> Int32 {
        let number = number
        discard self
        return number
    }

    // Never repeated on EINTR: Linux has released the number by then (close(2)), another thread may own it.
    deinit { _ = close(number) }
}
