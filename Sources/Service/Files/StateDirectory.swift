// SPDX-License-Identifier: Apache-2.0

import Glibc
import ServiceCore
import Storage

/// The directory in which a service keeps what has to last: the history and the outbox.
package struct StateDirectory: Sendable {
    /// Why it is of no use.
    package struct Problem: Error, CustomStringConvertible {
        package let description: String
        /// Whether the disk is behind it, which may be full or mounted read-only for a while: a service
        /// watches the network all the same.
        ///
        /// Everything else a person has to decide.
        package let isOfDisk: Bool
    }

    package let path: String

    package init(_ path: String) { self.path = path }

    /// Makes it where it is missing, and looks whether it may be used; before each use, since another may be
    /// mounted there meanwhile.
    package func prepare() throws(Problem) {
        if mkdir(path, 0o700) == 0 {
            // What lasts in it lasts only as long as its own name.
            guard PrivateFile.keepFolder(path) else { throw failure() }
        } else if errno != EEXIST {
            throw failure()
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw failure() }
        let refusal = StateDirectoryRules.refusal(
            owner: status.st_uid, mode: status.st_mode, user: geteuid())
        if let refusal { throw Problem(description: "\(path) \(refusal)", isOfDisk: false) }
        guard access(path, W_OK | X_OK) == 0 else { throw failure() }
    }

    /// A failure of the system, with `errno` as it is.
    private func failure() -> Problem {
        let number = errno
        let advice: String? =
            switch number {
            case EROFS: "mount it to be written; the kernel's log (dmesg) tells where it was not always so"
            case ENOSPC, EDQUOT: "free some space"
            case EIO: "check the disk and the kernel's log (dmesg)"
            default: nil
            }
        let reason = "\(path): \(String(cString: strerror(number)))"
        return Problem(description: advice.map { "\(reason); \($0)" } ?? reason, isOfDisk: advice != nil)
    }
}
