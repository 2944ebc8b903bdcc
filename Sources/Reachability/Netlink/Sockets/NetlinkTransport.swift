// SPDX-License-Identifier: Apache-2.0

internal import CNetlink

/// Carries requests to the kernel and replies back: a socket, or a script in a test.
package protocol NetlinkTransport: AnyObject {
    /// Sends a datagram of requests.
    func send(_ bytes: [UInt8]) throws(NetlinkError)

    /// The next reply; `nothing` if none came in time.
    func receive(into buffer: inout [UInt8]) -> NetlinkReception
}

/// A socket without groups, for requests.
package final class KernelTransport: NetlinkTransport {
    /// The time limit for a reply in milliseconds (RB-10).
    ///
    /// It does not cover requests about links, which are answered inside sendmsg(2) and wait there for
    /// rtnl_lock; no socket option limits that (SO_SNDTIMEO is for a full buffer).
    package static let replyTimeout = 250

    private let socket: NetlinkSocket

    /// Opens a socket in `namespace`, else in the network namespace of the calling thread.
    package init(_ family: NetlinkSocket.Family, namespace: NamespaceEntry?) throws(NetlinkError) {
        socket = try NetlinkSocket(family, namespace: namespace)
        try socket.setTimeout(milliseconds: Self.replyTimeout)
        // Room for the replies to a whole batch, which are queued before the request returns.
        socket.setReceiveBuffer(byteCount: 512 * 1024)
        _ = socket.setQueryOptions()
    }

    package func send(_ bytes: [UInt8]) throws(NetlinkError) { try socket.send(bytes) }

    package func receive(into buffer: inout [UInt8]) -> NetlinkReception { socket.receive(into: &buffer) }
}
