// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// What is told of an IPv6 router among the neighbours (RTM_NEWNEIGH, RTM_DELNEIGH; `struct ndmsg`, rtnetlink(7)).
package struct RouterMessage: Sendable, Equatable {
    /// One router, as long as it is a neighbour.
    package struct Router: Sendable, Hashable {
        package let interface: Int32
        package let address: IPAddress
    }

    package let router: Router
    /// Whether it did not answer (NUD_FAILED): the kernel prefers others now (rt6_check_neigh(), net/ipv6/route.c).
    package let hasFailed: Bool

    /// Reads a message; nil where it is about no IPv6 router, or malformed.
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
