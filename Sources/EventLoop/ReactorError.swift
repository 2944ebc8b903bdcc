// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Why a loop cannot be started or cannot watch a descriptor.
package struct ReactorError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The system call or step that failed, by name.
    package let operation: String
    /// The errno(3).
    package let errno: Int32

    package init(_ operation: String, errno: Int32) {
        self.operation = operation
        self.errno = errno
    }

    /// The loop has been stopped.
    package static let stopped = ReactorError("the event loop has been stopped", errno: ECANCELED)

    /// The operation, the reason, and advice.
    package var description: String {
        let reason = "\(operation): \(String(cString: strerror(errno)))"
        return switch errno {
        case EMFILE: "\(reason); raise the limit of open files (ulimit -n, LimitNOFILE=)"
        // pthread_create(3) returns the same where memory for a stack is missing.
        case EAGAIN: "\(reason); raise the limit of threads (ulimit -u, TasksMax=) or of memory (ulimit -v)"
        default: reason
        }
    }
}
