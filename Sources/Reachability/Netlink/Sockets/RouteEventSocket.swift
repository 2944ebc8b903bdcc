// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// The socket on which the kernel tells what changed about links, addresses, routes, rules, nexthops and settings.
///
/// It knows nothing of the loop: whoever waits for its descriptor drains it.
package final class RouteEventSocket {
    /// How a drain ended.
    package enum Outcome: Sendable, Equatable {
        /// Everything that was there has been read.
        case drained
        /// There may be more; so many datagrams have been read as were allowed.
        case more
        /// Events were lost; what is left has been read, or as much as was allowed.
        case overran
        /// The socket is unusable.
        case broken(errno: Int32)
    }

    /// The groups without which there is nothing to go by.
    private static let groups = [
        RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
        RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE,
    ].map { Int32($0.rawValue) }
    /// The groups that an old kernel lacks: nexthop objects came with Linux 5.3, settings with 3.8.
    package static let optionalGroups = [
        RTNLGRP_NEXTHOP, RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV6_NETCONF,
    ].map { Int32($0.rawValue) }
    /// Neighbour events of IPv6 routers; joined only where the kernel filters, because neighbours change all the time on a busy network.
    private static let neighbors = Int32(RTNLGRP_NEIGH.rawValue)

    // More than a receive buffer holds; a limit only for a kernel that keeps on sending.
    private static let overrunLimit = 1 << 16

    private let namespace: NamespaceEntry?
    private let receiveBufferSize: Int
    private let optionalGroups: [Int32]
    private var socket: NetlinkSocket?
    private var buffer = [UInt8](repeating: 0, count: NetlinkSocket.bufferSizes.lowerBound)
    private var decoder = NetlinkDecoder()
    private var foreign: UInt64 = 0
    private var overruns: UInt64 = 0
    /// What the kernel refused when the socket was opened or the filter replaced.
    package private(set) var limitations: MonitorLimitations = []

    /// A feed from `namespace`, or from the calling thread's; closed yet.
    package init(
        namespace: NamespaceEntry? = nil, receiveBufferSize: Int = 1 << 20,
        optionalGroups: [Int32] = RouteEventSocket.optionalGroups
    ) {
        self.namespace = namespace
        self.receiveBufferSize = receiveBufferSize
        self.optionalGroups = optionalGroups
    }

    /// The descriptor to wait for; nil while closed.
    package var descriptor: Int32? {
        switch socket {
        case .some(let socket): socket.descriptor
        case nil: nil
        }
    }

    /// Messages that were malformed or came from somebody else.
    package var discarded: UInt64 { decoder.malformed &+ foreign }

    /// Opens the socket: filter first, then the groups, so that nothing irrelevant is ever queued.
    package func open() throws(NetlinkError) {
        close()
        decoder.forgetRouters()
        let socket = try NetlinkSocket(.route, namespace: namespace)
        try socket.setNonBlocking()
        socket.setReceiveBuffer(byteCount: receiveBufferSize)
        note(.unfiltered, unless: Self.attach(decoder.filter, to: socket))
        for group in Self.groups { try socket.join(group: group) }
        var hasAll = true
        for group in optionalGroups {
            do { try socket.join(group: group) } catch { hasAll = false }
        }
        if !limitations.contains(.unfiltered) {
            do { try socket.join(group: Self.neighbors) } catch { hasAll = false }
        }
        note(.partialEvents, unless: hasAll)
        self.socket = consume socket
    }

    /// Closes the socket; what lies in its queue is lost.
    package func close() { socket = nil }

    /// Replaces the filter, at one instant and without losing anything that both let through.
    package func setFilter(_ filter: RouteFilter) {
        var filter = filter
        filter.followsRouters = decoder.filter.followsRouters
        guard filter != decoder.filter else { return }
        decoder.filter = filter
        attachFilter()
    }

    /// Puts the decoder's filter before the socket.
    private func attachFilter() {
        switch socket {
        case .some(let socket):
            let isFiltered = Self.attach(decoder.filter, to: socket)
            note(.unfiltered, unless: isFiltered)
            if !isFiltered { socket.leave(group: Self.neighbors) }
        case nil: break
        }
    }

    /// Reads at most `limit` datagrams and appends their events; after an overrun, all that are there.
    ///
    /// The kernel tells of an overrun once and then drops what comes, silently, until the queue has been read to
    /// its end (NETLINK_S_CONGESTED, net/netlink/af_netlink.c). Whoever asks what became of the network before
    /// that would miss the last change. Nothing is added meanwhile, so the buffer's size bounds the reading.
    package func drain(limit: Int, into events: inout [NetworkEvent]) -> Outcome {
        let followed = decoder.filter.followsRouters
        defer { if decoder.filter.followsRouters != followed { attachFilter() } }
        var hasOverrun = false
        var left = limit
        while left > 0 {
            left -= 1
            switch receive() {
            case .datagram(let byteCount):
                let datagram = buffer
                decoder.decode(datagram.span.bytes.extracting(0..<byteCount), into: &events)
            case .nothing: return hasOverrun ? .overran : .drained
            case .foreign: foreign &+= 1
            case .truncated(let needed):
                // What did not fit is as lost as what never came.
                let size = NetlinkSocket.grown(buffer.count, needed: needed)
                if size != buffer.count { buffer = [UInt8](repeating: 0, count: size) }
                events.append(.overrun)
            case .overrun:
                // Only new messages were lost; those queued before still come.
                if !hasOverrun { left = max(left, Self.overrunLimit) }
                hasOverrun = true
                decoder.forgetRouters()
                events.append(.overrun)
            case .broken(let errno): return .broken(errno: errno)
            }
        }
        return hasOverrun ? .overran : .more
    }

    private func note(_ limitation: MonitorLimitations, unless isFine: Bool) {
        if isFine { limitations.remove(limitation) } else { limitations.insert(limitation) }
    }

    private func receive() -> NetlinkReception {
        switch socket {
        case .some(let socket): socket.receive(into: &buffer)
        case nil: .broken(errno: EBADF)
        }
    }

    /// Puts the filter before the socket; false where the kernel has none there now.
    ///
    /// A long program can be too big for net.core.optmem_max: then one that lets more pass, and the decoder leaves
    /// the rest out. An old filter must not stay: it would hide the routes of a newly watched host.
    private static func attach(_ filter: RouteFilter, to socket: borrowing NetlinkSocket) -> Bool {
        for candidate in [filter, filter.coarse] {
            do throws(NetlinkError) {
                try socket.attach(candidate.program)
                return true
            } catch {}
        }
        socket.detachFilter()
        return false
    }
}
