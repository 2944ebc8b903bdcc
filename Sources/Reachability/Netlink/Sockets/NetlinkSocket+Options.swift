// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
internal import Glibc

extension NetlinkSocket {
    /// How large a buffer begins with, and how far it grows: the kernel never makes a longer message for us.
    package static let bufferSizes = 32 * 1024...256 * 1024

    /// The size for the next buffer after a datagram of `needed` bytes did not fit into one of `current` bytes.
    package static func grown(_ current: Int, needed: Int) -> Int {
        var size = max(current, bufferSizes.lowerBound)
        while size < needed, size < bufferSizes.upperBound { size *= 2 }
        return min(size, bufferSizes.upperBound)
    }

    /// Makes a receive return at once where nothing is there.
    package borrowing func setNonBlocking() throws(NetlinkError) {
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0 else {
            throw NetlinkError("make a netlink socket non-blocking", errno: errno)
        }
    }

    /// Makes a receive wait at most this long.
    package borrowing func setTimeout(milliseconds: Int) throws(NetlinkError) {
        let result = cnetlink_set_timeout(descriptor, milliseconds * 1000)
        guard result == 0 else { throw NetlinkError("limit the wait on a netlink socket", errno: -result) }
    }

    /// Sets the receive buffer: with CAP_NET_ADMIN whatever is asked, else up to net.core.rmem_max (socket(7)).
    ///
    /// libnl's connect has lowered it to 32 KiB, below the kernel's own default.
    package borrowing func setReceiveBuffer(byteCount: Int) {
        let size = Int32(clamping: byteCount)
        if cnetlink_set_option(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, size) != 0 {
            _ = cnetlink_set_option(descriptor, SOL_SOCKET, SO_RCVBUF, size)
        }
    }

    /// Asks for short error messages with the kernel's own words, and for strict reading of requests.
    ///
    /// NETLINK_CAP_ACK is there since Linux 4.3, NETLINK_EXT_ACK since 4.12, NETLINK_GET_STRICT_CHK since 4.20.
    /// Returns whether requests are read strictly: an older kernel ignores filters of a dump, and the reader has to
    /// leave out what it did not ask for.
    package borrowing func setQueryOptions() -> Bool {
        _ = cnetlink_set_option(descriptor, Int32(CNETLINK_SOL_NETLINK), NETLINK_CAP_ACK, 1)
        _ = cnetlink_set_option(descriptor, Int32(CNETLINK_SOL_NETLINK), NETLINK_EXT_ACK, 1)
        return cnetlink_set_option(
            descriptor, Int32(CNETLINK_SOL_NETLINK), NETLINK_GET_STRICT_CHK, 1) == 0
    }

    /// Puts a filter in front of the socket in place of the one that is there (SO_ATTACH_FILTER, socket(7)).
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

    /// Takes the filter away (SO_DETACH_FILTER, socket(7)); none is fine.
    package borrowing func detachFilter() {
        _ = cnetlink_set_option(descriptor, SOL_SOCKET, SO_DETACH_FILTER, 0)
    }
}
