// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import Glibc

extension NetlinkSocket {
    /// The initial and the maximum size of a buffer: the kernel sends no longer message to this program.
    package static let bufferSizes = 32 * 1024...256 * 1024

    /// The size of the next buffer after a datagram of `needed` bytes did not fit into `current` bytes.
    package static func grown(_ current: Int, needed: Int) -> Int {
        var size = max(current, bufferSizes.lowerBound)
        while size < needed, size < bufferSizes.upperBound { size *= 2 }
        return min(size, bufferSizes.upperBound)
    }

    /// Makes a receive return at once if nothing is there.
    package borrowing func setNonBlocking() throws(NetlinkError) {
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0 else {
            throw NetlinkError("make a netlink socket non-blocking", errno: errno)
        }
    }

    /// Limits the wait of a receive.
    package borrowing func setTimeout(milliseconds: Int) throws(NetlinkError) {
        let result = cnetlink_set_timeout(descriptor, Int64(milliseconds) * 1000)
        guard result == 0 else { throw NetlinkError("limit the wait on a netlink socket", errno: -result) }
    }

    /// Sets the receive buffer: any size with CAP_NET_ADMIN, else up to net.core.rmem_max (socket(7)).
    ///
    /// libnl's connect lowers it to 32 KiB, below the kernel's default.
    package borrowing func setReceiveBuffer(byteCount: Int) {
        let size = Int32(clamping: byteCount)
        if cnetlink_set_option(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, size) != 0 {
            _ = cnetlink_set_option(descriptor, SOL_SOCKET, SO_RCVBUF, size)
        }
    }

    /// Requests short error messages with the kernel's text, and strict validation of requests.
    ///
    /// NETLINK_CAP_ACK came with Linux 4.3, NETLINK_EXT_ACK with 4.12, NETLINK_GET_STRICT_CHK with 4.20.
    ///
    /// - Returns: Whether requests are validated strictly; an older kernel ignores the filters of a dump.
    package borrowing func setQueryOptions() -> Bool {
        _ = cnetlink_set_option(descriptor, Int32(CNETLINK_SOL_NETLINK), NETLINK_CAP_ACK, 1)
        _ = cnetlink_set_option(descriptor, Int32(CNETLINK_SOL_NETLINK), NETLINK_EXT_ACK, 1)
        return cnetlink_set_option(
            descriptor, Int32(CNETLINK_SOL_NETLINK), NETLINK_GET_STRICT_CHK, 1) == 0
    }

    /// Replaces the socket's filter (SO_ATTACH_FILTER, socket(7)).
    package borrowing func attach(_ filter: [FilterInstruction]) throws(NetlinkError) {
        guard let count = UInt16(exactly: filter.count) else {
            throw NetlinkError("attach a socket filter", errno: EINVAL)
        }
        let program = filter.map {
            sock_filter(code: $0.code, jt: $0.jumpTrue, jf: $0.jumpFalse, k: $0.operand)
        }
        let result = program.withUnsafeBufferPointer {
            cnetlink_attach_filter(descriptor, $0.baseAddress, count)
        }
        guard result == 0 else { throw NetlinkError("attach a socket filter", errno: -result) }
    }

    /// Removes the filter, if any (SO_DETACH_FILTER, socket(7)).
    package borrowing func detachFilter() {
        _ = cnetlink_set_option(descriptor, SOL_SOCKET, SO_DETACH_FILTER, 0)
    }
}
