// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

/// Decodes nl80211's notifications into events, without a socket.
package struct WirelessDecoder: Sendable {
    /// The relevant commands (enum nl80211_commands, linux/nl80211.h).
    package static let commands = [
        NL80211_CMD_SET_INTERFACE, NL80211_CMD_NEW_INTERFACE, NL80211_CMD_DEL_INTERFACE,
        NL80211_CMD_ASSOCIATE, NL80211_CMD_DEAUTHENTICATE, NL80211_CMD_DISASSOCIATE, NL80211_CMD_JOIN_IBSS,
        NL80211_CMD_CONNECT, NL80211_CMD_ROAM, NL80211_CMD_DISCONNECT,
    ].map { UInt8(truncatingIfNeeded: $0.rawValue) }

    /// nl80211's message type, once the controller has announced it.
    private var number: UInt16?

    package init() {}

    /// Appends the events in one datagram; returns nl80211's family if the datagram announces it.
    package mutating func decode(_ bytes: RawSpan, into events: inout [NetworkEvent]) -> GenericFamily? {
        var found: GenericFamily?
        var walk = NetlinkMessages()
        while let message = walk.next(in: bytes) {
            if message.type == GenericFamily.controller {
                guard let family = GenericFamily(message.body, in: bytes), family.name == "nl80211"
                else { continue }
                number = family.number
                found = family
            } else if message.type == number, let index = Self.interface(message.body, in: bytes) {
                events.append(.wirelessChanged(index: index))
            }
        }
        return found
    }

    /// The interface of a message; nil if it names none, or its command is irrelevant.
    private static func interface(_ body: Range<Int>, in bytes: RawSpan) -> Int32? {
        guard let command = bytes.integer(UInt8.self, in: body), commands.contains(command)
        else { return nil }
        var index: Int32?
        var attributes = NetlinkAttributes(body, skipping: NetlinkLayout.generic)
        while let attribute = attributes.next(in: bytes) {
            if attribute.type == Int(NL80211_ATTR_IFINDEX.rawValue) {
                index = bytes.integer(Int32.self, in: attribute.payload)
            }
        }
        return attributes.isMalformed ? nil : index
    }
}
