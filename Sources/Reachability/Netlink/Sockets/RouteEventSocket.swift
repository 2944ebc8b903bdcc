// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// The socket for the kernel's notifications about links, addresses, routes, rules, nexthops and settings.
///
/// It does not wait: its owner waits for the descriptor and then drains it.
package final class RouteEventSocket {
    /// The result of a drain.
    package enum Outcome: Sendable, Equatable {
        /// All pending datagrams were read.
        case drained
        /// The limit was reached; more may be pending.
        case more
        /// Events were lost; the rest was read up to the limit.
        case overran
        /// The socket is unusable.
        case broken(errno: Int32)
    }

    /// The required groups.
    private static let groups = [
        RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
        RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE,
    ].map { Int32($0.rawValue) }
    /// The groups that an old kernel lacks: nexthop objects came with Linux 5.3, settings with 3.8.
    package static let optionalGroups = [RTNLGRP_NEXTHOP, RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV6_NETCONF]
        .map { Int32($0.rawValue) }
    /// Neighbour events of IPv6 routers; joined only with a filter, as neighbours change constantly.
    private static let neighbors = Int32(RTNLGRP_NEIGH.rawValue)

    // More than a receive buffer holds; bounds the reading if the kernel keeps sending.
    private static let overrunLimit = 1 << 16

    private let namespace: NamespaceEntry?
    private let receiveBufferSize: Int
    private let optionalGroups: [Int32]
    private var socket: NetlinkSocket?
    private var buffer = [UInt8](repeating: 0, count: NetlinkSocket.bufferSizes.lowerBound)
    private var decoder = NetlinkDecoder()
    private var foreign: UInt64 = 0
    private var overruns: UInt64 = 0
    /// The refusals of the kernel when the socket was opened or the filter replaced.
    package private(set) var limitations: MonitorLimitations = []

    /// A closed socket for `namespace`, or for the calling thread's namespace.
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

    /// Discarded messages: malformed, or of another sender.
    package var discarded: UInt64 { decoder.malformed &+ foreign }

    /// Opens the socket: filter before groups, so that no irrelevant message is queued.
    package func open() throws(NetlinkError) {
        close()
        decoder.forgetRouters()
        let socket = try NetlinkSocket(.route, namespace: namespace)
        try socket.setNonBlocking()
        socket.setReceiveBuffer(byteCount: receiveBufferSize)
        record(.unfiltered, unless: Self.attach(decoder.filter, to: socket))
        for group in Self.groups { try socket.join(group: group) }
        var hasAll = true
        for group in optionalGroups {
            do { try socket.join(group: group) } catch { hasAll = false }
        }
        if !limitations.contains(.unfiltered) {
            do { try socket.join(group: Self.neighbors) } catch { hasAll = false }
        }
        record(.partialEvents, unless: hasAll)
        self.socket = consume socket
    }

    /// Closes the socket and drops its queue.
    package func close() { socket = nil }

    /// Replaces the filter atomically: messages that both filters pass are not lost.
    package func setFilter(_ filter: RouteFilter) {
        var filter = filter
        filter.followsRouters = decoder.filter.followsRouters
        guard filter != decoder.filter else { return }
        decoder.filter = filter
        attachFilter()
    }

    private func attachFilter() {
        switch socket {
        case .some(let socket):
            let isFiltered = Self.attach(decoder.filter, to: socket)
            record(.unfiltered, unless: isFiltered)
            if !isFiltered { socket.leave(group: Self.neighbors) }
        case nil: break
        }
    }

    /// Reads at most `limit` datagrams and appends their events; after an overrun, all that are pending.
    ///
    /// The kernel reports an overrun once and then silently drops messages until the queue is empty
    /// (NETLINK_S_CONGESTED, net/netlink/af_netlink.c). An evaluation before that would miss the last change.
    /// The kernel adds nothing meanwhile, so the buffer's size bounds the reading.
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
                // A truncated datagram counts as lost.
                let size = NetlinkSocket.grown(buffer.count, needed: needed)
                if size != buffer.count { buffer = [UInt8](repeating: 0, count: size) }
                events.append(.overrun)
            case .overrun:
                // Only new messages were lost; earlier ones are still queued.
                if !hasOverrun { left = max(left, Self.overrunLimit) }
                hasOverrun = true
                decoder.forgetRouters()
                events.append(.overrun)
            case .broken(let errno): return .broken(errno: errno)
            }
        }
        return hasOverrun ? .overran : .more
    }

    private func record(_ limitation: MonitorLimitations, unless isFine: Bool) {
        if isFine { limitations.remove(limitation) } else { limitations.insert(limitation) }
    }

    private func receive() -> NetlinkReception {
        switch socket {
        case .some(let socket): socket.receive(into: &buffer)
        case nil: .broken(errno: EBADF)
        }
    }

    /// Attaches the filter; false if the kernel has none afterwards.
    ///
    /// A long program can exceed net.core.optmem_max; then a coarser filter is attached, and the decoder
    /// skips the rest. The old filter must not stay, because it would hide the routes of a new host.
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
