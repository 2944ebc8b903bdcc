// SPDX-License-Identifier: Apache-2.0

/// What carries the packets of a link in the end.
package struct Carrier: Sendable, Equatable {
    /// The link's own kind.
    package var medium: Medium
    /// Whether Wi-Fi carries it.
    package var isWiFi: Bool
    /// Whether the traffic costs: cellular or Bluetooth underneath, or so configured.
    package var isExpensive: Bool
    /// The 802.11 interface underneath.
    package var station: Int32?

    package init(medium: Medium, isWiFi: Bool = false, isExpensive: Bool = false, station: Int32? = nil) {
        self.medium = medium
        self.isWiFi = isWiFi
        self.isExpensive = isExpensive
        self.station = station
    }

    /// The same carrier, seen through a link that lies upon it.
    package func seen(as medium: Medium) -> Carrier {
        Carrier(medium: medium, isWiFi: isWiFi, isExpensive: isExpensive, station: station)
    }
}

/// What carries the ports of an aggregate, one after the other.
private struct CarriersOfPorts {
    private var first: Carrier?
    private var allAreWiFi = true
    private var allAreExpensive = true

    mutating func add(_ carrier: Carrier) {
        first = first ?? carrier
        allAreWiFi = allAreWiFi && carrier.isWiFi
        allAreExpensive = allAreExpensive && carrier.isExpensive
    }

    /// What carries the aggregate.
    var together: Carrier {
        guard let first else { return Carrier(medium: .virtual) }
        return allAreWiFi ? first : Carrier(medium: .ethernet, isExpensive: allAreExpensive)
    }
}

extension Inquiry {
    /// What carries `link`, tunnels excepted: their way out depends on the destination.
    package mutating func carrier(
        of link: LinkState, expensive: Set<String>, depth: Int = 0
    ) throws(Incomplete) -> Carrier {
        var carrier = try unmarkedCarrier(of: link, expensive: expensive, depth: depth)
        if !expensive.isEmpty, expensive.contains(link.name) { carrier.isExpensive = true }
        return carrier
    }

    private mutating func unmarkedCarrier(
        of link: LinkState, expensive: Set<String>, depth: Int
    ) throws(Incomplete) -> Carrier {
        switch link.role {
        case .tunnel: return Carrier(medium: .tunnel)
        case .standalone(let medium): return Carrier(medium: medium, isExpensive: medium == .cellular)
        case .stacked(let medium):
            guard depth < MediumRules.maximumDepth, !link.lowerIsElsewhere, let lower = link.lower,
                lower != link.index, let below = try self.link(lower)
            else { return Carrier(medium: medium) }
            return try carrier(of: below, expensive: expensive, depth: depth + 1).seen(as: medium)
        case .aggregate(let medium):
            guard depth < MediumRules.maximumDepth else { return Carrier(medium: medium) }
            return try carrierOfPorts(of: link, expensive: expensive, depth: depth).seen(as: medium)
        case .sink: return Carrier(medium: .virtual)
        case .device: return try carrierOfDevice(link)
        }
    }

    /// A bond goes by its active port; otherwise Wi-Fi carries an aggregate only if it carries every port.
    private mutating func carrierOfPorts(
        of link: LinkState, expensive: Set<String>, depth: Int
    ) throws(Incomplete) -> Carrier {
        if let active = link.activePort, let port = try self.link(active) {
            return try carrier(of: port, expensive: expensive, depth: depth + 1)
        }
        let place = PortsPlace(master: link.index, depth: depth)
        if let concluded = portsCarrier[place] {
            guard let concluded else { throw Incomplete() }
            return concluded
        }
        portsCarrier[place] = .some(nil)
        var carriers = CarriersOfPorts()
        var isComplete = true
        for port in try ports(of: link.index) where port.hasUsableState {
            // Cables to guests and containers do not lead out.
            if case .standalone(.virtual) = port.role { continue }
            if case .sink = port.role { continue }
            // All ports are visited even where answers are missing: then all can ask at once.
            guard let usability = try? usability(of: port, depth: depth + 1),
                let carrier = try? carrier(of: port, expensive: expensive, depth: depth + 1)
            else {
                isComplete = false
                continue
            }
            // An access point leads nobody out, nor does a bridge without ports.
            if usability == .usable { carriers.add(carrier) }
        }
        guard isComplete else { throw Incomplete() }
        portsCarrier[place] = carriers.together
        return carriers.together
    }

    private mutating func carrierOfDevice(_ link: LinkState) throws(Incomplete) -> Carrier {
        try require(.wireless(link.index), .device(link.index, name: LinkName(link.name)))
        let device = try device(link)
        // nl80211 first: it answers for the socket's namespace, sysfs for that of its mount.
        if let wireless = try wireless(link.index) {
            return wireless.isUplink
                ? Carrier(medium: .wifi, isWiFi: true, station: link.index) : Carrier(medium: .wifi)
        }
        switch device.type {
        case "wlan": return Carrier(medium: .wifi, isWiFi: true, station: link.index)
        case "wwan": return Carrier(medium: .cellular, isExpensive: true)
        case "bluetooth": return Carrier(medium: .other, isExpensive: true)
        default: break
        }
        if device.hasPhy80211 || device.hasWirelessExtensions {
            return Carrier(medium: .wifi, isWiFi: true, station: link.index)
        }
        return Carrier(medium: .ethernet)
    }
}
