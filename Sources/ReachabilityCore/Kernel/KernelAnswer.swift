// SPDX-License-Identifier: Apache-2.0

/// The kernel's answer to a ``KernelQuestion``.
package enum KernelAnswer: Sendable, Equatable {
    indirect case route(RouteAnswer)
    indirect case link(LinkState)
    /// To `links` and `ports`.
    case links([LinkState])
    case addresses([InterfaceAddress])
    indirect case rules(PolicyRules)
    indirect case wireless(WirelessState)
    indirect case device(DeviceFacts)
    /// The address of a lease whose DHCP server said that traffic costs; nil for none.
    case meteredLease(IPAddress?)
    /// The kernel refused, with this errno(3): ENETUNREACH, ENODEV, EACCES …
    case failure(Int32)
}

/// The state of an 802.11 interface from nl80211 (NL80211_CMD_GET_INTERFACE, NL80211_CMD_GET_STATION).
package struct WirelessState: Sendable, Equatable {
    /// The mode (enum nl80211_iftype, linux/nl80211.h): 2 is station, 3 access point, 6 monitor.
    package var mode: UInt32
    /// The network's name as text, with replacement characters for bytes that are not UTF-8; nil for none.
    package var ssid: String?
    /// The access point (BSSID), six bytes.
    package var accessPoint: [UInt8]?
    /// Signal strength in dBm, usually −30 (near) to −90 (far).
    package var signal: Int8?

    package init(mode: UInt32, ssid: String? = nil, accessPoint: [UInt8]? = nil, signal: Int8? = nil) {
        self.mode = mode
        self.ssid = ssid
        self.accessPoint = accessPoint
        self.signal = signal
    }

    /// Whether the mode can be an uplink: ad hoc, station, mesh point, P2P client, vehicular (OCB).
    package var isUplink: Bool { [1, 2, 7, 8, 11].contains(mode) }

    /// The mode in words, for sentences.
    package var modeName: String {
        switch mode {
        case 1: "ad hoc"
        case 2: "station"
        case 3, 4: "access point"
        case 6: "monitor"
        case 7: "mesh"
        case 8: "P2P client"
        case 9: "P2P group owner"
        case 10: "P2P device"
        case 11: "OCB"
        default: "number \(mode)"
        }
    }
}

/// The attributes of a device that netlink does not report.
package struct DeviceFacts: Sendable, Equatable {
    /// DEVTYPE of the uevent file ("wlan", "wwan", "bluetooth", "bridge" …).
    package var type: String?
    /// Whether sysfs links a `phy80211`.
    package var hasPhy80211: Bool
    /// Whether the wireless extensions answer (SIOCGIWNAME).
    package var hasWirelessExtensions: Bool
    /// Whether an rfkill switch of its radio blocks it, by software or by hardware.
    package var isRadioBlocked: Bool
    /// The driver's name ("rndis_host", "ipheth" …).
    package var driver: String?

    package init(
        type: String? = nil, hasPhy80211: Bool = false, hasWirelessExtensions: Bool = false,
        isRadioBlocked: Bool = false, driver: String? = nil
    ) {
        self.type = type
        self.hasPhy80211 = hasPhy80211
        self.hasWirelessExtensions = hasWirelessExtensions
        self.isRadioBlocked = isRadioBlocked
        self.driver = driver
    }
}
