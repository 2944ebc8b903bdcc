// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import Glibc

/// The result of one receive.
package enum NetlinkReception: Sendable, Equatable {
    /// A datagram of so many bytes is in the buffer.
    case datagram(byteCount: Int)
    /// No datagram before the timeout.
    case nothing
    /// The receive buffer overflowed and events were lost (ENOBUFS); the socket still works.
    case overrun
    /// The datagram was longer than the buffer; its end is missing.
    case truncated(needed: Int)
    /// The sender is not the kernel; the content must be ignored.
    case foreign
    /// The socket is unusable.
    case broken(errno: Int32)
}

/// The owner of a netlink socket (netlink(7)), created and destroyed by libnl.
package struct NetlinkSocket: ~Copyable {
    /// The protocols in use (linux/netlink.h).
    package enum Family: Int32, Sendable {
        case route = 0
        case generic = 16
    }

    private let handle: OpaquePointer
    /// The descriptor, owned by this object and close-on-exec.
    package let descriptor: Int32

    /// Opens a socket without groups, for good in `namespace`, else in the calling thread's namespace.
    package init(_ family: Family, namespace: NamespaceEntry? = nil) throws(NetlinkError) {
        let action = family == .route ? "open a route netlink socket" : "open a generic netlink socket"
        guard let handle = nl_socket_alloc() else { throw NetlinkError(action, errno: ENOMEM) }
        func connect() -> (result: Int32, errno: Int32) {
            errno = 0
            let result = nl_connect(handle, family.rawValue)
            return (result, errno)
        }
        let outcome: (result: Int32, errno: Int32)
        do throws(NetlinkError) {
            outcome = try namespace?.run(connect) ?? connect()
        } catch {
            nl_socket_free(handle)
            throw error
        }
        guard outcome.result >= 0 else {
            nl_socket_free(handle)
            throw NetlinkError(action, library: outcome.result, errno: outcome.errno)
        }
        self.handle = handle
        descriptor = nl_socket_get_fd(handle)
    }

    deinit { nl_socket_free(handle) }

    /// Receives one datagram by recvfrom(2), with MSG_TRUNC for its true length.
    ///
    /// libnl's `nl_recv` allocates a buffer for each, and folds ENOBUFS (events lost) and ENOMEM into one.
    package borrowing func receive(into buffer: inout [UInt8]) -> NetlinkReception {
        var port: UInt32 = 0
        var groups: UInt32 = 0
        while true {
            let result = buffer.withUnsafeMutableBytes {
                cnetlink_receive(descriptor, $0.baseAddress, $0.count, &port, &groups)
            }
            if result > 0 {
                if port != 0 { return .foreign }
                return result <= buffer.count ? .datagram(byteCount: result) : .truncated(needed: result)
            }
            switch Int32(truncatingIfNeeded: -result) {
            case EINTR: continue
            case EAGAIN: return .nothing
            // ENOMEM: there was no memory for this datagram, so it is lost as well.
            case ENOBUFS, ENOMEM: return .overrun
            // The kernel never sends empty datagrams; ignore them.
            case 0: return .foreign
            case let error: return .broken(errno: error)
            }
        }
    }

    /// Sends a datagram to the kernel, which handles it before this returns.
    package borrowing func send(_ bytes: [UInt8]) throws(NetlinkError) {
        while true {
            errno = 0
            // libnl declares the buffer as mutable, but only reads it.
            let result = bytes.withUnsafeBytes {
                nl_sendto(handle, UnsafeMutableRawPointer(mutating: $0.baseAddress), $0.count)
            }
            if result >= 0 { return }
            if errno != EINTR { throw NetlinkError("send to the kernel", library: result, errno: errno) }
        }
    }

    /// Leaves a multicast group, if joined.
    package borrowing func leave(group: Int32) { _ = nl_socket_drop_membership(handle, group) }

    /// Joins a multicast group (RTNLGRP_*, linux/rtnetlink.h).
    package borrowing func join(group: Int32) throws(NetlinkError) {
        errno = 0
        let result = nl_socket_add_membership(handle, group)
        guard result >= 0 else {
            throw NetlinkError("join netlink group \(group)", library: result, errno: errno)
        }
    }
}
