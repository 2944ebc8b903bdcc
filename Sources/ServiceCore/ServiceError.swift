// SPDX-License-Identifier: Apache-2.0

/// Why the service cannot start or continue: a sentence with the path, the fault, and advice.
package struct ServiceError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of fault, for the exit code.
    package enum Kind: Sendable, Equatable {
        /// An option or the configuration is wrong.
        case usage
        /// Another service runs at this socket.
        case alreadyRunning
        /// No service listens at this socket.
        case absent
        /// A service listens, but did not accept the connection in time, because of too many others.
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
