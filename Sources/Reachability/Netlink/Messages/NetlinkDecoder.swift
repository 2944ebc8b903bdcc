// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// Turns the bytes of route netlink notifications into events.
///
/// Pure: it has no socket. /// Nothing in the bytes can stop it: what is malformed is counted and left out, what is unknown is left out.
package struct NetlinkDecoder: Sendable {
    /// Which routes matter.
    ///
    /// The kernel has filtered already, unless it refused the filter.
    package var filter: RouteFilter
    /// The routers that did not answer and have not answered since; for these ``RouteFilter/followsRouters`` is set.
    private var failed: Set<RouterMessage.Router> = []
    /// Messages left out because they were malformed.
    package private(set) var malformed: UInt64 = 0
    /// Messages read, whether or not they led to an event.
    package private(set) var messages: UInt64 = 0

    package init(filter: RouteFilter = RouteFilter()) { self.filter = filter }

    /// Appends the events in one datagram.
    package mutating func decode(_ bytes: RawSpan, into events: inout [NetworkEvent]) {
        var walk = NetlinkMessages()
        while let message = walk.next(in: bytes) {
            messages &+= 1
            switch read(message, in: bytes) {
            case .event(let event): events.append(event)
            case .nothing: break
            case .malformed: malformed &+= 1
            }
        }
        if walk.isMalformed { malformed &+= 1 }
    }

    /// What one message came to.
    private enum Reading {
        case event(NetworkEvent)
        case nothing
        case malformed
    }

    private mutating func read(_ message: NetlinkMessage, in bytes: RawSpan) -> Reading {
        let body = message.body
        switch Int(message.type) {
        case RTM_NEWROUTE, RTM_DELROUTE:
            guard let change = RouteChange(message, in: bytes) else { return isForeign(body, bytes) }
            guard filter.passes(change.prefix) else { return .nothing }
            return .event(
                Int(message.type) == RTM_NEWROUTE
                    ? .routeAdded(change.prefix, through: change.interface)
                    : .routeRemoved(change.prefix, through: change.interface))
        case RTM_NEWLINK, RTM_DELLINK:
            guard let change = LinkMessage(body, in: bytes) else { return .malformed }
            guard change.family == AddressFamily.unspecified else { return .nothing }
            // A link that is moved into another namespace is deleted here (IFLA_NEW_NETNSID tells that apart).
            if Int(message.type) == RTM_DELLINK { return .event(.linkRemoved(index: change.link.index)) }
            return .event(.linkChanged(change.link, isWirelessNoise: change.isWireless))
        case RTM_NEWADDR, RTM_DELADDR:
            guard let address = InterfaceAddress(body, in: bytes) else { return isForeign(body, bytes) }
            return .event(
                Int(message.type) == RTM_NEWADDR ? .addressAdded(address) : .addressRemoved(address))
        case RTM_NEWRULE, RTM_DELRULE:
            guard body.count >= NetlinkLayout.rule,
                let family = bytes.integer(UInt8.self, at: body.lowerBound)
            else { return .malformed }
            return AddressFamily.family(family).map { .event(.ruleChanged($0)) } ?? .nothing
        case RTM_NEWNEXTHOP, RTM_DELNEXTHOP:
            return Self.nexthop(body, in: bytes)
        case RTM_NEWNEIGH, RTM_DELNEIGH: return router(message, in: bytes)
        case RTM_NEWNETCONF: return Self.setting(body, in: bytes)
        case Int(NLMSG_OVERRUN): return .event(.overrun)
        default: return .nothing
        }
    }

    /// Addresses and routes of further families are no mistake: they just do not count.
    private func isForeign(_ body: Range<Int>, _ bytes: RawSpan) -> Reading {
        guard let family = bytes.integer(UInt8.self, in: body) else { return .malformed }
        return AddressFamily.family(family) == nil ? .nothing : .malformed
    }

    /// One setting of an interface, of all of them or of those to come.
    ///
    /// A message with all settings is about an interface that has just appeared, which its link message tells too.
    private static func setting(_ body: Range<Int>, in bytes: RawSpan) -> Reading {
        guard let family = bytes.integer(UInt8.self, in: body) else { return .malformed }
        var counts = false
        var isNewcomer = false
        var attributes = NetlinkAttributes(body, skipping: NetlinkLayout.setting)
        while let attribute = attributes.next(in: bytes) {
            switch attribute.type {
            case NETCONFA_FORWARDING, NETCONFA_IGNORE_ROUTES_WITH_LINKDOWN: counts = true
            case NETCONFA_PROXY_NEIGH: isNewcomer = true
            default: break
            }
        }
        guard !attributes.isMalformed else { return .malformed }
        guard counts, !isNewcomer, let family = AddressFamily.family(family) else { return .nothing }
        return .event(.settingChanged(family))
    }

    // More routers than a host has.
    private static let routerLimit = 64

    /// A router that begins to fail, or does no longer.
    private mutating func router(_ message: NetlinkMessage, in bytes: RawSpan) -> Reading {
        guard let change = RouterMessage(message, in: bytes) else { return .nothing }
        let isNew =
            change.hasFailed
            ? failed.count < Self.routerLimit && failed.insert(change.router).inserted
            : failed.remove(change.router) != nil
        guard isNew else { return .nothing }
        filter.followsRouters = !failed.isEmpty
        return .event(.routerChanged(interface: change.router.interface))
    }

    /// The state of the routers is not known any more: events were lost.
    package mutating func forgetRouters() {
        failed = []
        filter.followsRouters = false
    }

    private static func nexthop(_ body: Range<Int>, in bytes: RawSpan) -> Reading {
        guard body.count >= NetlinkLayout.nexthop else { return .malformed }
        var number: UInt32?
        var attributes = NetlinkAttributes(body, skipping: NetlinkLayout.nexthop)
        while let attribute = attributes.next(in: bytes) {
            if attribute.type == NHA_ID { number = bytes.integer(UInt32.self, in: attribute.payload) }
        }
        guard !attributes.isMalformed, let number else { return .malformed }
        return .event(.nexthopChanged(number))
    }
}
