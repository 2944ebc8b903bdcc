// SPDX-License-Identifier: Apache-2.0

internal import CNetlink

/// Carries requests to a kernel and its replies back: a socket, or a script in a test.
package protocol NetlinkTransport: AnyObject {
    /// Hands a datagram of requests over.
    func send(_ bytes: [UInt8]) throws(NetlinkError)

    /// The next reply; `nothing` where none came in time.
    func receive(into buffer: inout [UInt8]) -> NetlinkReception
}

/// A socket without groups, for questions.
package final class KernelTransport: NetlinkTransport {
    /// How long a reply may take, in milliseconds (RB-10).
    ///
    /// Usually it is there before the request returns. It bounds the waiting for replies alone, not the request itself:
    /// questions about links are answered inside sendmsg(2) and wait there for rtnl_lock, for as long as somebody else
    /// holds it. No socket option limits that (SO_SNDTIMEO is for a full buffer). Lookups of routes take no such lock.
    package static let patience = 250

    private let socket: NetlinkSocket

    /// Opens a socket in `namespace`, else in the network namespace of the calling thread.
    package init(_ family: NetlinkSocket.Family, namespace: NamespaceEntry?) throws(NetlinkError) {
        socket = try NetlinkSocket(family, namespace: namespace)
        try socket.setTimeout(milliseconds: Self.patience)
        // Room for the replies to a whole batch: they are queued before the request returns.
        socket.setReceiveBuffer(byteCount: 512 * 1024)
        _ = socket.setQueryOptions()
    }

    package func send(_ bytes: [UInt8]) throws(NetlinkError) { try socket.send(bytes) }

    package func receive(into buffer: inout [UInt8]) -> NetlinkReception { socket.receive(into: &buffer) }
}
