// SPDX-License-Identifier: Apache-2.0

import Reachability

/// nl80211's replies according to linux/nl80211.h.
enum WirelessBytes {
    /// nl80211's message type in the tests.
    static let number: UInt16 = 28

    /// One reply.
    struct Message {
        var bytes: [UInt8]

        private static func make(
            _ command: UInt8, _ sequence: UInt32, flags: Int32 = 0, _ write: (inout NetlinkRequest) -> Void
        ) -> Message {
            var reply = NetlinkRequest()
            reply.begin(number, flags: flags, sequence: sequence)
            for byte in [command, 1, 0, 0] { reply.append(byte) }
            reply.attribute(3, Int32(3))
            write(&reply)
            reply.end()
            return Message(bytes: reply.bytes)
        }

        /// NL80211_CMD_NEW_INTERFACE.
        static func interface(mode: UInt32, ssid: String? = nil, sequence: UInt32 = 0) -> Message {
            make(7, sequence) {
                $0.attribute(5, mode)
                if let ssid { $0.attribute(52, Array(ssid.utf8)) }
            }
        }

        /// NL80211_CMD_NEW_STATION.
        static func station(
            _ address: [UInt8], signal: Int8 = -42, associatedAt: UInt64? = nil, connectedTime: UInt32? = nil,
            isPeer: Bool = false, isAssociated: Bool = true, sequence: UInt32 = 0
        ) -> Message {
            var details = NetlinkRequest()
            details.attribute(7, signal)
            if let connectedTime { details.attribute(16, connectedTime) }
            // The mask, then the flags: authorized, TDLS peer, associated.
            let flags: UInt64 = (isPeer ? 0x40 : 0) | (isAssociated ? 0x82 : 0)
            details.attribute(17, flags << 32 | 0xC2)
            if let associatedAt { details.attribute(42, associatedAt) }
            return make(19, sequence, flags: 2) {
                $0.attribute(6, address)
                $0.attribute(21, details.bytes)
            }
        }

        /// NL80211_CMD_NEW_SCAN_RESULTS; status 1 is associated.
        static func scan(
            _ accessPoint: [UInt8], status: UInt32?, name: String = "", elements: [UInt8]? = nil,
            beacon: [UInt8]? = nil, device: [UInt8]? = nil, sequence: UInt32 = 0, flags: Int32 = 2
        ) -> Message {
            var entry = NetlinkRequest()
            entry.attribute(1, accessPoint)
            entry.attribute(2, UInt32(2412))
            entry.attribute(6, elements ?? [0, UInt8(name.utf8.count)] + name.utf8)
            if let beacon { entry.attribute(11, beacon) }
            if let status { entry.attribute(9, status) }
            if let device { entry.attribute(22, device) }
            return make(34, sequence, flags: flags) { $0.attribute(47, entry.bytes) }
        }

        /// CTRL_CMD_NEWFAMILY.
        static func family(sequence: UInt32) -> Message {
            var reply = NetlinkRequest()
            reply.begin(GenericFamily.controller, sequence: sequence)
            for byte: UInt8 in [1, 2, 0, 0] { reply.append(byte) }
            reply.attribute(2, "nl80211")
            reply.attribute(1, WirelessBytes.number)
            reply.end()
            return Message(bytes: reply.bytes)
        }
    }
}

extension NetlinkRequest {
    /// Appends an attribute of bytes.
    mutating func attribute(_ type: UInt16, _ payload: [UInt8]) {
        append(UInt16(4 + payload.count))
        append(type)
        for byte in payload { append(byte) }
        while bytes.count & 3 != 0 { append(UInt8(0)) }
    }
}
