// SPDX-License-Identifier: Apache-2.0

internal import CNetlink
package import ReachabilityCore

extension WirelessState {
    /// Reads the body of an NL80211_CMD_NEW_INTERFACE message (linux/nl80211.h); nil if it is malformed.
    package init?(interface body: Range<Int>, in bytes: RawSpan) {
        guard body.count >= NetlinkLayout.generic else { return nil }
        var mode: UInt32?
        var ssid: String?
        var attributes = NetlinkAttributes(body, skipping: NetlinkLayout.generic)
        while let attribute = attributes.next(in: bytes) {
            switch attribute.type {
            case Int(NL80211_ATTR_IFTYPE.rawValue): mode = bytes.integer(UInt32.self, in: attribute.payload)
            case Int(NL80211_ATTR_SSID.rawValue): ssid = bytes.networkName(in: attribute.payload)
            default: break
            }
        }
        guard !attributes.isMalformed, let mode else { return nil }
        self.init(mode: mode, ssid: ssid)
    }

    /// Reads access point and signal from an NL80211_CMD_NEW_STATION message, and returns the station.
    ///
    /// Malformed messages are ignored, and those about other clients (TDLS) or before association.
    @discardableResult
    package mutating func readStation(_ body: Range<Int>, in bytes: RawSpan) -> WirelessStation? {
        guard let station = WirelessStation(body, in: bytes), !station.isPeer, station.isAssociated
        else { return nil }
        accessPoint = station.address
        signal = station.signal
        return station
    }
}

/// The remote end of a connection (NL80211_CMD_NEW_STATION): for a client, its access point.
package struct WirelessStation: Sendable, Equatable {
    /// The hardware address: six bytes.
    package var address: [UInt8]
    package var signal: Int8?
    /// The start of the association in nanoseconds of CLOCK_BOOTTIME; Linux 5.3, not with every driver.
    package var associatedAt: UInt64?
    /// The duration of the association in seconds.
    package var connectedTime: UInt32?
    /// Whether it is another client with a direct link (TDLS, IEEE 802.11z).
    package var isPeer = false
    /// Whether the association is complete; the station exists before that.
    package var isAssociated = true

    /// Reads the body of the message; nil if it is malformed, or names no station.
    package init?(_ body: Range<Int>, in bytes: RawSpan) {
        guard body.count >= NetlinkLayout.generic else { return nil }
        var address: [UInt8]?
        var details: Range<Int>?
        var attributes = NetlinkAttributes(body, skipping: NetlinkLayout.generic)
        while let attribute = attributes.next(in: bytes) {
            switch attribute.type {
            case Int(NL80211_ATTR_MAC.rawValue): address = bytes.hardwareAddress(in: attribute.payload)
            case Int(NL80211_ATTR_STA_INFO.rawValue): details = attribute.payload
            default: break
            }
        }
        guard !attributes.isMalformed, let address else { return nil }
        self.address = address
        if let details { read(NetlinkAttributes(details), in: bytes) }
    }

    private mutating func read(_ attributes: consuming NetlinkAttributes, in bytes: RawSpan) {
        while let attribute = attributes.next(in: bytes) {
            let payload = attribute.payload
            switch attribute.type {
            case Int(NL80211_STA_INFO_SIGNAL.rawValue): signal = bytes.integer(Int8.self, in: payload)
            case Int(NL80211_STA_INFO_ASSOC_AT_BOOTTIME.rawValue):
                associatedAt = bytes.integer(UInt64.self, in: payload)
            case Int(NL80211_STA_INFO_CONNECTED_TIME.rawValue):
                connectedTime = bytes.integer(UInt32.self, in: payload)
            // struct nl80211_sta_flag_update: a mask of known flags, and their values.
            case Int(NL80211_STA_INFO_STA_FLAGS.rawValue) where payload.count >= 8:
                let known = bytes.integer(UInt32.self, at: payload.lowerBound) ?? 0
                let set = bytes.integer(UInt32.self, at: payload.lowerBound + 4) ?? 0
                isPeer = set & 1 << NL80211_STA_FLAG_TDLS_PEER.rawValue != 0
                isAssociated = known & ~set & 1 << NL80211_STA_FLAG_ASSOCIATED.rawValue == 0
            default: break
            }
        }
    }

    /// Whether this is the association of `earlier`, and not a new one with the same station.
    package func continues(_ earlier: WirelessStation) -> Bool {
        address == earlier.address && associatedAt == earlier.associatedAt
            && (connectedTime ?? 0) >= (earlier.connectedTime ?? 0)
    }
}

/// The network of a client according to the scan results (NL80211_CMD_NEW_SCAN_RESULTS).
package struct WirelessNetwork: Sendable, Equatable {
    /// The access point (BSSID): six bytes.
    package var accessPoint: [UInt8]
    /// The multi-link device of this access point (Wi-Fi 7): six bytes.
    package var device: [UInt8]?
    /// The name as text; nil if it is hidden.
    package var ssid: String?

    /// Reads the body of the message; nil if it is malformed, or about another network.
    package init?(_ body: Range<Int>, in bytes: RawSpan) {
        guard body.count >= NetlinkLayout.generic else { return nil }
        var entry: Range<Int>?
        var attributes = NetlinkAttributes(body, skipping: NetlinkLayout.generic)
        while let attribute = attributes.next(in: bytes) {
            if attribute.type == Int(NL80211_ATTR_BSS.rawValue) { entry = attribute.payload }
        }
        guard !attributes.isMalformed, let entry else { return nil }
        var status: UInt32?
        var elements: Range<Int>?
        var beacon: Range<Int>?
        attributes = NetlinkAttributes(entry)
        var accessPoint: [UInt8]?
        while let attribute = attributes.next(in: bytes) {
            let payload = attribute.payload
            switch attribute.type {
            case Int(NL80211_BSS_BSSID.rawValue): accessPoint = bytes.hardwareAddress(in: payload)
            case Int(NL80211_BSS_INFORMATION_ELEMENTS.rawValue): elements = payload
            case Int(NL80211_BSS_BEACON_IES.rawValue): beacon = payload
            case Int(NL80211_BSS_STATUS.rawValue): status = bytes.integer(UInt32.self, in: payload)
            case Self.deviceAddress: device = bytes.hardwareAddress(in: payload)
            default: break
            }
        }
        guard !attributes.isMalformed, status == NL80211_BSS_STATUS_ASSOCIATED.rawValue, let accessPoint
        else { return nil }
        self.accessPoint = accessPoint
        // A beacon can hide the name that a probe response contains.
        for range in [elements, beacon] where ssid == nil {
            if let range { ssid = bytes.networkName(amongElements: range) }
        }
    }

    /// Whether `station` is this access point.
    package func isServed(by station: [UInt8]) -> Bool { accessPoint == station || device == station }

    // NL80211_BSS_MLD_ADDR; headers before Linux 6.0 have no name for it.
    private static let deviceAddress = 22
}

extension RawSpan {
    /// The six bytes of a hardware address in `range`; nil for any other length.
    package func hardwareAddress(in range: Range<Int>) -> [UInt8]? {
        guard range.count == 6 else { return nil }
        let address = bytes(in: range)
        return address.count == 6 ? address : nil
    }

    /// The network's name in `range`: up to 32 bytes without a terminating NUL (IEEE 802.11, 9.4.2.2).
    ///
    /// Nil if it is hidden: empty or all zero. Control characters stay.
    package func networkName(in range: Range<Int>) -> String? {
        guard range.count <= 32 else { return nil }
        let name = bytes(in: range)
        return name.contains { $0 != 0 } ? String(decoding: name, as: UTF8.self) : nil
    }

    /// The network's name among the information elements in `range`, each a number, a length and the content;
    /// a truncated element ends the search.
    package func networkName(amongElements range: Range<Int>) -> String? {
        var offset = range.lowerBound
        while offset < range.upperBound - 1,
            let number = integer(UInt8.self, at: offset), let count = integer(UInt8.self, at: offset + 1)
        {
            let end = offset + 2 + Int(count)
            guard end <= range.upperBound else { return nil }
            if number == 0 { return networkName(in: offset + 2..<end) }
            offset = end
        }
        return nil
    }
}
