// SPDX-License-Identifier: Apache-2.0

/// What the sockets of a transfer are bound to.
package enum PathBinding: Sendable, Equatable {
    /// Nothing: the kernel chooses the path.
    case any
    /// An interface (SO_BINDTODEVICE, socket(7)), since the kernel's own choice is dead.
    case interface(String)

    // Spelt out: what the compiler derives is reached by other modules through the protocol alone, and this is asked several times
    // a request.

    package static func == (one: PathBinding, other: PathBinding) -> Bool {
        switch (one, other) {
        case (.any, .any): true
        case (.interface(let name), .interface(let otherName)): name == otherName
        case (.any, .interface), (.interface, .any): false
        }
    }
}
