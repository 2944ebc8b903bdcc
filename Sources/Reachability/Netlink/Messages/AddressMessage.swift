// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

extension InterfaceAddress {
    /// Reads the body of an RTM_NEWADDR or RTM_DELADDR message (rtnetlink(7), linux/if_addr.h).
    ///
    /// Nil where it is malformed, or of a family other than IPv4 and IPv6.
    package init?(_ body: Range<Int>, in bytes: RawSpan) {
        guard body.count >= NetlinkLayout.address,
            let family = bytes.integer(UInt8.self, at: body.lowerBound),
            let prefixLength = bytes.integer(UInt8.self, at: body.lowerBound + 1),
            let oldFlags = bytes.integer(UInt8.self, at: body.lowerBound + 2),
            let index = bytes.integer(UInt32.self, at: body.lowerBound + 4),
            let interface = Int32(exactly: index)
        else { return nil }
        var flags = UInt32(oldFlags)
        var local: IPAddress?
        var remote: IPAddress?
        var attributes = NetlinkAttributes(body, skipping: NetlinkLayout.address)
        while let attribute = attributes.next(in: bytes) {
            switch attribute.type {
            // Of a point-to-point interface IFA_ADDRESS is the other end.
            case IFA_LOCAL: local = bytes.address(family: family, in: attribute.payload)
            case IFA_ADDRESS: remote = bytes.address(family: family, in: attribute.payload)
            case IFA_FLAGS: flags = bytes.integer(UInt32.self, in: attribute.payload) ?? flags
            default: break
            }
        }
        guard !attributes.isMalformed, let address = local ?? remote, prefixLength <= address.bitWidth else {
            return nil
        }
        self.init(
            interface: interface, address: address, prefixLength: Int(prefixLength),
            flags: Flags(rawValue: flags))
    }
}
