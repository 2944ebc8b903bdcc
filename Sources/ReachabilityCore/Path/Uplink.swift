// SPDX-License-Identifier: Apache-2.0

/// An interface with a usable path of its own to a destination.
package struct Uplink: Sendable, Equatable {
    package var name: String
    package var index: Int32
    /// The source address for sockets bound to it; nil for the kernel's own choice.
    package var source: IPAddress?
    package var metric: UInt32
    /// The medium underneath.
    package var medium: Medium
    package var isWiFi: Bool
    package var isExpensive: Bool
    /// Whether data is to be saved on it.
    package var isConstrained = false
    /// The name of the Wi-Fi network that carries it.
    package var ssid: String?

    package init(
        name: String, index: Int32, source: IPAddress? = nil, metric: UInt32 = 0, medium: Medium = .ethernet,
        isWiFi: Bool? = nil, isExpensive: Bool = false
    ) {
        self.name = name
        self.index = index
        self.source = source
        self.metric = metric
        self.medium = medium
        self.isWiFi = isWiFi ?? (medium == .wifi)
        self.isExpensive = isExpensive
    }

    /// Whether a wire carries it, and no modem.
    package var isWired: Bool { !isWiFi && medium != .cellular && medium != .other }

    /// Whether it is taken rather than another one: what costs nothing goes first, then the lower metric.
    package func precedes(_ other: Uplink) -> Bool {
        if isExpensive != other.isExpensive { return other.isExpensive }
        return (metric, index) < (other.metric, other.index)
    }
}
