// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// Decodes route netlink notifications into events; malformed messages are counted, unknown ones skipped.
package struct NetlinkDecoder: Sendable {
    /// The relevant routes; the filter of the kernel is coarser, or was refused.
    package var filter: RouteFilter
    /// Routers that stopped answering; while there are any, ``RouteFilter/followsRouters`` is set.
    private var failed: Set<RouterMessage.Router> = []
    /// Skipped messages: malformed.
    package private(set) var malformed: UInt64 = 0
    /// Messages read, with or without an event.
    package private(set) var messages: UInt64 = 0

    package init(filter: RouteFilter = RouteFilter()) { self.filter = filter }

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

    private enum Reading {
        case event(NetworkEvent)
        case nothing, malformed
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
            let isPortState =
                Int(message.type) == RTM_NEWLINK && change.family == AddressFamily.bridge
                && change.link.bridgePortState != nil
            guard isPortState || change.family == AddressFamily.unspecified else { return .nothing }
            // Moving a link into another namespace deletes it here (with IFLA_NEW_NETNSID).
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

    /// Addresses and routes of other families are valid, but irrelevant.
    private func isForeign(_ body: Range<Int>, _ bytes: RawSpan) -> Reading {
        guard let family = bytes.integer(UInt8.self, in: body) else { return .malformed }
        return AddressFamily.family(family) == nil ? .nothing : .malformed
    }

    /// A changed setting; a message with all settings announces a new interface, as its link message does.
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

    /// A router that stopped or resumed answering.
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

    /// Forgets the state of the routers, because events were lost.
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
