// SPDX-License-Identifier: Apache-2.0

/// Why the service cannot start or go on: a sentence that says what, where, and what to try.
package struct ServiceError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Whose fault it is, for the exit code.
    package enum Kind: Sendable, Equatable {
        /// What was asked for is wrong: an option, the configuration.
        case usage
        /// Another service runs there.
        case alreadyRunning
        /// Nothing listens where a service was asked for.
        case absent
        /// A service listens, and has not let the caller in by the end of its patience: too many others wait.
        case busy
        /// The system refused something.
        case system
        /// The kernel, a container or a seccomp filter refuses netlink.
        case cannotMonitor
    }

    package let kind: Kind
    package let description: String

    /// The system refused something.
    package init(_ description: String) { self.init(.system, description) }

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
