// SPDX-License-Identifier: Apache-2.0

internal import CNetlink

/// A family of generic netlink, which gets its number when its module is loaded (linux/genetlink.h).
package struct GenericFamily: Sendable, Equatable {
    package var name: String
    package var number: UInt16
    package var groups: [String: Int32]

    /// Reads the body of a CTRL_CMD_NEWFAMILY message; nil if it is malformed, or another message.
    package init?(_ body: Range<Int>, in bytes: RawSpan) {
        guard body.count >= NetlinkLayout.generic,
            bytes.integer(UInt8.self, at: body.lowerBound) == UInt8(CTRL_CMD_NEWFAMILY)
        else { return nil }
        var name: String?
        var number: UInt16?
        var groups: [String: Int32] = [:]
        var attributes = NetlinkAttributes(body, skipping: NetlinkLayout.generic)
        while let attribute = attributes.next(in: bytes) {
            switch attribute.type {
            case CTRL_ATTR_FAMILY_NAME: name = bytes.text(in: attribute.payload)
            case CTRL_ATTR_FAMILY_ID: number = bytes.integer(UInt16.self, in: attribute.payload)
            case CTRL_ATTR_MCAST_GROUPS:
                var list = NetlinkAttributes(attribute.payload)
                while let entry = list.next(in: bytes) {
                    if let group = Self.group(entry.payload, in: bytes) { groups[group.name] = group.number }
                }
            default: break
            }
        }
        guard !attributes.isMalformed, let name, let number else { return nil }
        self.name = name
        self.number = number
        self.groups = groups
    }

    private static func group(_ range: Range<Int>, in bytes: RawSpan) -> (name: String, number: Int32)? {
        var name: String?
        var number: Int32?
        var attributes = NetlinkAttributes(range)
        while let attribute = attributes.next(in: bytes) {
            switch attribute.type {
            case CTRL_ATTR_MCAST_GRP_NAME: name = bytes.text(in: attribute.payload)
            case CTRL_ATTR_MCAST_GRP_ID: number = bytes.integer(Int32.self, in: attribute.payload)
            default: break
            }
        }
        guard let name, let number else { return nil }
        return (name, number)
    }

    /// The message type of the controller, which knows all families.
    package static let controller = UInt16(CNETLINK_GENL_ID_CTRL)

    /// Writes the request for a family by name; the answer is a CTRL_CMD_NEWFAMILY, or ENOENT.
    package static func ask(_ name: String, sequence: UInt32, in request: inout NetlinkRequest) {
        request.begin(controller, sequence: sequence)
        request.append(UInt8(CTRL_CMD_GETFAMILY))
        request.append(UInt8(1))
        request.append(UInt16(0))
        request.attribute(CTRL_ATTR_FAMILY_NAME, name)
        request.end()
    }
}
