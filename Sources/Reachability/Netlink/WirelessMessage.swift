// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

extension WirelessState {
    /// Reads the body of an NL80211_CMD_NEW_INTERFACE message (linux/nl80211.h); nil where it is malformed.
    package init?(interface body: Range<Int>, in bytes: RawSpan) {
        guard body.count >= NetlinkLayout.generic else { return nil }
        var mode: UInt32?
        var ssid: String?
        var attributes = NetlinkAttributes(body, skipping: NetlinkLayout.generic)
        while let attribute = attributes.next(in: bytes) {
            switch attribute.type {
            case Int(NL80211_ATTR_IFTYPE.rawValue): mode = bytes.integer(UInt32.self, in: attribute.payload)
            // Up to 32 bytes without a NUL at the end; a hidden network's name is empty or all zero.
            case Int(NL80211_ATTR_SSID.rawValue):
                let name = bytes.bytes(in: attribute.payload)
                if name.contains(where: { $0 != 0 }) { ssid = String(decoding: name, as: UTF8.self) }
            default: break
            }
        }
        guard !attributes.isMalformed, let mode else { return nil }
        self.init(mode: mode, ssid: ssid)
    }

    /// Reads the access point and the signal from an NL80211_CMD_NEW_STATION message; malformed ones say nothing.
    package mutating func readStation(_ body: Range<Int>, in bytes: RawSpan) {
        guard body.count >= NetlinkLayout.generic else { return }
        var attributes = NetlinkAttributes(body, skipping: NetlinkLayout.generic)
        while let attribute = attributes.next(in: bytes) {
            switch attribute.type {
            case Int(NL80211_ATTR_MAC.rawValue) where attribute.payload.count == 6:
                accessPoint = bytes.bytes(in: attribute.payload)
            case Int(NL80211_ATTR_STA_INFO.rawValue):
                var details = NetlinkAttributes(attribute.payload)
                while let detail = details.next(in: bytes) {
                    guard detail.type == Int(NL80211_STA_INFO_SIGNAL.rawValue) else { continue }
                    signal = bytes.integer(Int8.self, in: detail.payload)
                }
            default: break
            }
        }
    }
}
