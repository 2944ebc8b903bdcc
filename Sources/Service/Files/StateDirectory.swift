// SPDX-License-Identifier: Apache-2.0

import Glibc
import ServiceCore
import Storage

/// The directory of the service's lasting files: the history and the outbox.
package struct StateDirectory: Sendable {
    /// Why it cannot be used.
    package struct Problem: Error, CustomStringConvertible {
        package let description: String
        /// Whether the disk is the cause, full or read-only for a while: the service then runs without it.
        package let isOfDisk: Bool
    }

    package let path: String

    package init(_ path: String) { self.path = path }

    /// Makes the directory if it is missing, and checks it: another file system may be mounted meanwhile.
    package func prepare() throws(Problem) {
        if mkdir(path, 0o700) == 0 {
            // Its files are as durable as its own name.
            guard PrivateFile.syncNewFolder(path) else { throw failure() }
        } else if errno != EEXIST {
            throw failure()
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw failure() }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw Problem(
                description: "\(path) is no directory; remove it", isOfDisk: false)
        }
        let refusal = StateDirectoryRules.refusal(owner: status.st_uid, mode: status.st_mode, user: geteuid())
        if let refusal { throw Problem(description: "\(path) \(refusal)", isOfDisk: false) }
        guard access(path, W_OK | X_OK) == 0 else { throw failure() }
    }

    /// A system failure, from the current `errno`.
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
