// SPDX-License-Identifier: Apache-2.0

/// What the sockets of a transfer are bound to.
package enum PathBinding: Sendable, Equatable {
    /// Nothing: the kernel chooses the path.
    case any
    /// An interface (SO_BINDTODEVICE, socket(7)), since the kernel's own choice is dead.
    case interface(String)
}
