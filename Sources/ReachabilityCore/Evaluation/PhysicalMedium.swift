// SPDX-License-Identifier: Apache-2.0

/// The physical medium underneath a link.
package struct PhysicalMedium: Sendable, Equatable {
    /// The link's own kind.
    package var medium: Medium
    package var isWiFi = false
    /// Whether traffic is metered: cellular or Bluetooth, or configured so.
    package var isExpensive = false
    /// The 802.11 interface underneath.
    package var station: Int32?

    /// The same medium for a link stacked on it.
    package func stacked(as medium: Medium) -> PhysicalMedium {
        PhysicalMedium(medium: medium, isWiFi: isWiFi, isExpensive: isExpensive, station: station)
    }
}

/// Collects the media of the ports of an aggregate.
private struct PortMedia {
    private var first: PhysicalMedium?
    private var allAreWiFi = true
    private var allAreExpensive = true

    mutating func add(_ physical: PhysicalMedium) {
        first = first ?? physical
        allAreWiFi = allAreWiFi && physical.isWiFi
        allAreExpensive = allAreExpensive && physical.isExpensive
    }

    /// The medium of the aggregate.
    var combined: PhysicalMedium {
        guard let first else { return PhysicalMedium(medium: .virtual) }
        return allAreWiFi ? first : PhysicalMedium(medium: .ethernet, isExpensive: allAreExpensive)
    }
}

extension EvaluationContext {
    /// The medium underneath `link`; for tunnels it depends on the destination and is found elsewhere.
    package mutating func physicalMedium(
        of link: LinkState, expensive: Set<String>, depth: Int = 0
    ) throws(MissingAnswers) -> PhysicalMedium {
        var physical = try mediumByRole(of: link, expensive: expensive, depth: depth)
        if !expensive.isEmpty, expensive.contains(link.name) { physical.isExpensive = true }
        return physical
    }

    private mutating func mediumByRole(
        of link: LinkState, expensive: Set<String>, depth: Int
    ) throws(MissingAnswers) -> PhysicalMedium {
        switch link.role {
        case .tunnel: return PhysicalMedium(medium: .tunnel)
        case .standalone(let medium): return PhysicalMedium(medium: medium, isExpensive: medium == .cellular)
        case .stacked(let medium):
            guard depth < MediumRules.maximumDepth, !link.lowerIsElsewhere, let lower = link.lower,
                lower != link.index, let below = try self.link(lower)
            else { return PhysicalMedium(medium: medium) }
            return try physicalMedium(of: below, expensive: expensive, depth: depth + 1).stacked(as: medium)
        case .aggregate(let medium):
            guard depth < MediumRules.maximumDepth else { return PhysicalMedium(medium: medium) }
            return try mediumOfPorts(of: link, expensive: expensive, depth: depth).stacked(as: medium)
        case .sink: return PhysicalMedium(medium: .virtual)
        case .device: return try mediumOfDevice(link)
        }
    }

    /// A bond has the medium of its active port; other aggregates are Wi-Fi only if every port is.
    private mutating func mediumOfPorts(
        of link: LinkState, expensive: Set<String>, depth: Int
    ) throws(MissingAnswers) -> PhysicalMedium {
        if let active = link.activePort, let port = try self.link(active) {
            return try physicalMedium(of: port, expensive: expensive, depth: depth + 1)
        }
        let place = PortsKey(master: link.index, depth: depth)
        if let concluded = portsMedium[place] {
            guard let concluded else { throw MissingAnswers() }
            return concluded
        }
        portsMedium[place] = .some(nil)
        var media = PortMedia()
        var isComplete = true
        for port in try ports(of: link.index) where port.hasUsableState {
            // Guests and containers are no uplinks.
            if case .standalone(.virtual) = port.role { continue }
            if case .sink = port.role { continue }
            // Visits all of them even if answers are missing, so that all questions are requested together.
            guard let usability = try? usability(of: port, depth: depth + 1),
                let physical = try? physicalMedium(of: port, expensive: expensive, depth: depth + 1)
            else {
                isComplete = false
                continue
            }
            // An access point and a bridge without ports are no uplinks.
            if usability == .usable { media.add(physical) }
        }
        guard isComplete else { throw MissingAnswers() }
        portsMedium[place] = media.combined
        return media.combined
    }

    private mutating func mediumOfDevice(_ link: LinkState) throws(MissingAnswers) -> PhysicalMedium {
        try require(.wireless(link.index), .device(link.index, name: LinkName(link.name)))
        let device = try device(link)
        let station = PhysicalMedium(medium: .wifi, isWiFi: true, station: link.index)
        // nl80211 first: it answers for the socket's namespace, sysfs for the namespace of its mount.
        if let wireless = try wireless(link.index) {
            return wireless.isUplink ? station : PhysicalMedium(medium: .wifi)
        }
        switch device.type {
        case "wlan": return station
        case "wwan": return PhysicalMedium(medium: .cellular, isExpensive: true)
        case "bluetooth": return PhysicalMedium(medium: .other, isExpensive: true)
        default: break
        }
        let isRadio = device.hasPhy80211 || device.hasWirelessExtensions
        return isRadio ? station : PhysicalMedium(medium: .ethernet)
    }
}
