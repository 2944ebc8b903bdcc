// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// The content of an RTM_NEWROUTE or RTM_DELROUTE notification (rtnetlink(7)).
package struct RouteChange: Sendable, Equatable {
    package let prefix: IPPrefix
    /// The only output interface whose lookups the change affects; nil if it can affect others.
    ///
    /// In both families a lookup bound to an interface (RTA_OIF) ignores unicast routes without a next hop
    /// there, so such a route affects bound lookups of its own interface only. This does not hold for routes
    /// with several next hops or a nexthop object, for types that refuse or skip, and for replacements
    /// (NLM_F_REPLACE), whose notification does not name the old interface.
    package let interface: Int32?

    /// Reads a notification; nil if it is malformed, or of a family other than IPv4 and IPv6.
    package init?(_ message: NetlinkMessage, in bytes: RawSpan) {
        let body = message.body
        guard body.count >= NetlinkLayout.route,
            let number = bytes.integer(UInt8.self, at: body.lowerBound),
            let length = bytes.integer(UInt8.self, at: body.lowerBound + 1),
            let type = bytes.integer(UInt8.self, at: body.lowerBound + 7),
            let family = AddressFamily.family(number)
        else { return nil }
        var destination = family == .ipv4 ? IPAddress(v4: 0) : IPAddress(v6High: 0, low: 0)
        var isComplete = length == 0
        var output: Int32?
        var isSimple = Int(type) == RTN_UNICAST && Int32(message.flags) & NLM_F_REPLACE == 0
        var attributes = NetlinkAttributes(body, skipping: NetlinkLayout.route)
        while let attribute = attributes.next(in: bytes) {
            switch attribute.type {
            case RTA_DST.number:
                guard let address = bytes.address(family: number, in: attribute.payload) else { return nil }
                destination = address
                isComplete = true
            case RTA_OIF.number: output = bytes.integer(Int32.self, in: attribute.payload)
            case RTA_MULTIPATH.number, RTA_NH_ID.number: isSimple = false
            default: break
            }
        }
        guard !attributes.isMalformed, isComplete,
            let prefix = IPPrefix(destination, length: Int(length))
        else { return nil }
        self.prefix = prefix
        interface = isSimple ? output : nil
    }
}

/// The state of an IPv6 router (RTM_NEWNEIGH, RTM_DELNEIGH; `struct ndmsg`, rtnetlink(7)).
package struct RouterMessage: Sendable, Equatable {
    package struct Router: Sendable, Hashable {
        package let interface: Int32
        package let address: IPAddress
    }

    package let router: Router
    /// Whether it did not answer (NUD_FAILED); the kernel then prefers others (rt6_check_neigh()).
    package let hasFailed: Bool

    /// Reads a message; nil if it is malformed, or not about an IPv6 router.
    package init?(_ message: NetlinkMessage, in bytes: RawSpan) {
        let body = message.body
        guard body.count >= NetlinkLayout.neighbor,
            bytes.integer(UInt8.self, at: body.lowerBound) == AddressFamily.inet6,
            let interface = bytes.integer(Int32.self, at: body.lowerBound + 4),
            let state = bytes.integer(UInt16.self, at: body.lowerBound + 8),
            let flags = bytes.integer(UInt8.self, at: body.lowerBound + 10),
            Int32(flags) & Int32(NTF_ROUTER) != 0
        else { return nil }
        var address: IPAddress?
        var attributes = NetlinkAttributes(body, skipping: NetlinkLayout.neighbor)
        while let attribute = attributes.next(in: bytes) {
            if attribute.type == Int(NDA_DST) {
                address = bytes.address(family: AddressFamily.inet6, in: attribute.payload)
            }
        }
        guard !attributes.isMalformed, let address else { return nil }
        router = Router(interface: interface, address: address)
        hasFailed = Int(message.type) == RTM_NEWNEIGH && Int32(state) & Int32(NUD_FAILED) != 0
    }
}
