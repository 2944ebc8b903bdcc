// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import Glibc
package import ReachabilityCore

/// The failure of an operation on a netlink socket.
package struct NetlinkError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The failed operation: "open a route socket", "join group 33".
    package let action: String
    /// The errno(3) of the failure; 0 if it came from libnl alone.
    package let errno: Int32
    /// libnl's number (netlink/errno.h); 0 if the kernel refused directly.
    package let library: Int32

    /// A refusal by the kernel.
    package init(_ action: String, errno: Int32) {
        self.action = action
        self.errno = errno
        library = 0
    }

    /// A refusal through libnl, whose numbers fold several errno values, so the errno is stored as well.
    package init(_ action: String, library: Int32, errno: Int32) {
        self.action = action
        self.errno = errno
        self.library = library.magnitude > UInt32(Int32.max) ? library : abs(library)
    }

    /// The failed operation and the reason.
    package var description: String {
        let reason = errno != 0 ? KernelNames.error(errno) : String(cString: nl_geterror(library))
        return "cannot \(action): \(reason)"
    }

    /// The same as a public error with advice.
    package var asReachabilityError: ReachabilityError {
        switch errno {
        case EMFILE, ENFILE, ENOMEM, ENOBUFS:
            ReachabilityError(
                .outOfResources, errno: errno, context: description,
                advice: "raise the limit of open files (ulimit -n, LimitNOFILE=) or free memory")
        default:
            ReachabilityError(
                .netlinkRefused, errno: errno, context: description,
                advice: "netlink must be allowed: a seccomp filter or RestrictAddressFamilies= without "
                    + "AF_NETLINK, or a sandbox such as gVisor, refuses it")
        }
    }
}
