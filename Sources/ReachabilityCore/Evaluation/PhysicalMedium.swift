// SPDX-License-Identifier: Apache-2.0

/// The physical medium underneath a link.
package struct PhysicalMedium: Sendable, Equatable {
    /// The link's own kind.
    package var medium: Medium
    package var isWiFi = false
    /// What its traffic costs.
    package var cost = NetworkCost()
    /// The 802.11 interface underneath.
    package var station: Int32?

    /// The same medium for a link stacked on it.
    package func stacked(as medium: Medium) -> PhysicalMedium {
        PhysicalMedium(medium: medium, isWiFi: isWiFi, cost: cost, station: station)
    }
}

/// Collects the media of the ports of an aggregate.
private struct PortMedia {
    private var first: PhysicalMedium?
    private var allAreWiFi = true
    private var cost: NetworkCost?

    mutating func add(_ physical: PhysicalMedium) {
        first = first ?? physical
        allAreWiFi = allAreWiFi && physical.isWiFi
        cost = cost?.combined(with: physical.cost) ?? physical.cost
    }

    /// The medium of the aggregate.
    var combined: PhysicalMedium {
        guard var first, let cost else { return PhysicalMedium(medium: .virtual) }
        if !allAreWiFi { first = PhysicalMedium(medium: .ethernet) }
        first.cost = cost
        return first
    }
}

extension EvaluationContext {
    /// The medium underneath `link`; for tunnels it depends on the destination and is found elsewhere.
    package mutating func physicalMedium(
        of link: LinkState, costs: MeteredRules, depth: Int = 0
    ) throws(MissingAnswers) -> PhysicalMedium {
        // Requested at once with what the medium needs.
        let hasMeteredLease = try? hasMeteredLease(link)
        var physical = try mediumByRole(of: link, costs: costs, depth: depth)
        guard let hasMeteredLease else { throw MissingAnswers() }
        var network: String?
        if costs.readsNetworks, let station = physical.station { network = try wireless(station)?.ssid }
        physical.cost = costs.cost(
            of: link.name, index: link.index, network: network, hasMeteredLease: hasMeteredLease,
            kind: physical.cost)
        return physical
    }

    /// Whether the DHCP server of the link said that it costs.
    ///
    /// The lease has to be of an address that the link has: the file may be old, or of another namespace.
    private mutating func hasMeteredLease(_ link: LinkState) throws(MissingAnswers) -> Bool {
        guard link.hasUsableState, link.master == nil else { return false }
        switch link.role {
        case .tunnel, .sink, .standalone(.loopback): return false
        case .standalone, .stacked, .aggregate, .device: break
        }
        guard let address = try meteredLease(link) else { return false }
        return try addresses().contains { $0.interface == link.index && $0.address == address }
    }

    private mutating func mediumByRole(
        of link: LinkState, costs: MeteredRules, depth: Int
    ) throws(MissingAnswers) -> PhysicalMedium {
        switch link.role {
        case .tunnel: return PhysicalMedium(medium: .tunnel)
        case .standalone(let medium):
            return PhysicalMedium(
                medium: medium, cost: NetworkCost(medium == .cellular ? .guessYes : .unknown))
        case .stacked(let medium):
            guard depth < MediumRules.maximumDepth, !link.lowerIsElsewhere, let lower = link.lower,
                lower != link.index, let below = try self.link(lower)
            else { return PhysicalMedium(medium: medium) }
            return try physicalMedium(of: below, costs: costs, depth: depth + 1).stacked(as: medium)
        case .aggregate(let medium):
            guard depth < MediumRules.maximumDepth else { return PhysicalMedium(medium: medium) }
            return try mediumOfPorts(of: link, costs: costs, depth: depth).stacked(as: medium)
        case .sink: return PhysicalMedium(medium: .virtual)
        case .device: return try mediumOfDevice(link)
        }
    }

    /// A bond has the medium of its active port; other aggregates are Wi-Fi only if every port is.
    private mutating func mediumOfPorts(
        of link: LinkState, costs: MeteredRules, depth: Int
    ) throws(MissingAnswers) -> PhysicalMedium {
        if let active = link.activePort, let port = try self.link(active) {
            return try physicalMedium(of: port, costs: costs, depth: depth + 1)
        }
        let key = PortsKey(master: link.index, depth: depth)
        if let concluded = portsMedium[key] {
            guard let concluded else { throw MissingAnswers() }
            return concluded
        }
        portsMedium[key] = .some(nil)
        var media = PortMedia()
        var isComplete = true
        for port in try ports(of: link.index) where port.hasUsableState {
            // Guests and containers are no uplinks.
            if case .standalone(.virtual) = port.role { continue }
            if case .sink = port.role { continue }
            // Visits all of them even if answers are missing, so that all questions are requested together.
            guard let usability = try? usability(of: port, depth: depth + 1),
                let physical = try? physicalMedium(of: port, costs: costs, depth: depth + 1)
            else {
                isComplete = false
                continue
            }
            // An access point and a bridge without ports are no uplinks.
            if usability == .usable { media.add(physical) }
        }
        guard isComplete else { throw MissingAnswers() }
        portsMedium[key] = media.combined
        return media.combined
    }

    private mutating func mediumOfDevice(_ link: LinkState) throws(MissingAnswers) -> PhysicalMedium {
        try require(.wireless(link.index), .device(link.index, name: LinkName(link.name)))
        let device = try device(link)
        let free = NetworkCost(.guessNo)
        let station = PhysicalMedium(medium: .wifi, isWiFi: true, cost: free, station: link.index)
        // nl80211 first: it answers for the socket's namespace, sysfs for the namespace of its mount.
        if let wireless = try wireless(link.index) {
            return wireless.isUplink ? station : PhysicalMedium(medium: .wifi, cost: free)
        }
        switch device.type {
        case "wlan": return station
        case "wwan": return PhysicalMedium(medium: .cellular, cost: NetworkCost(.guessYes))
        case "bluetooth": return PhysicalMedium(medium: .other, cost: NetworkCost(.guessYes))
        default: break
        }
        let isRadio = device.hasPhy80211 || device.hasWirelessExtensions
        if isRadio { return station }
        let isTether = MeteredRules.isTether(device.driver)
        return PhysicalMedium(medium: .ethernet, cost: isTether ? NetworkCost(.guessYes) : free)
    }
}
