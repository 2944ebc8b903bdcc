// SPDX-License-Identifier: Apache-2.0

/// The errno with which the kernel refused an answer.
package struct KernelErrno: Error, Sendable, Hashable {
    package let errno: Int32

    package init(errno: Int32) { self.errno = errno }

    // The numbers are those of asm-generic/errno.h; the standard library has no names for them.
    package static let interrupted: Int32 = 4
    package static let tryAgain: Int32 = 11
    package static let noMemory: Int32 = 12
    package static let accessDenied: Int32 = 13
    package static let noDevice: Int32 = 19
    package static let invalid: Int32 = 22
    package static let badMessage: Int32 = 74
    /// The kernel is older than the request: RTM_F_FIB_MATCH came with Linux 4.13.
    package static let unsupported: Int32 = 95
    package static let networkUnreachable: Int32 = 101
    package static let noBuffers: Int32 = 105
    package static let hostUnreachable: Int32 = 113

    /// Whether the kernel could not answer at this moment; it says nothing about the network.
    package var isTransient: Bool {
        switch errno {
        case Self.interrupted, Self.tryAgain, Self.noMemory, Self.badMessage, Self.noBuffers: true
        default: false
        }
    }
}
