// SPDX-License-Identifier: Apache-2.0

import Glibc
import Storage

/// Whether a service writes a history: a lock beside the file that ends with the process (flock(2)).
package struct HistoryLock: ~Copyable {
    private let descriptor: Int32

    /// Takes the lock; it is held until this goes away.
    ///
    /// - Returns: nil where another service holds it, or where the file cannot be made.
    package init?(beside database: String) {
        descriptor = PrivateFile.openOrMake(database + ".lock")
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
    }

    deinit { close(descriptor) }

    /// Whether a process holds it.
    package static func isHeld(beside database: String) -> Bool {
        let descriptor = PrivateFile.openFile(database + ".lock", O_RDONLY)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }
}
