// SPDX-License-Identifier: Apache-2.0

extension LinkReporter {
    /// The link that is nearest to being usable, for the reason of a missing path.
    ///
    /// Links to containers and guests on this machine count only if there are no others.
    ///
    /// - Parameter candidates: The links in question; nil for all.
    package func nearestUplink(
        among candidates: [LinkState]? = nil, _ context: inout EvaluationContext
    ) throws(MissingAnswers) -> LinkState? {
        let links = try context.links()
        let addressed = Set(
            try context.addresses().filter { $0.isUsable && !$0.address.isLinkLocal }.map(\.interface))
        func progress(_ link: LinkState) -> Int {
            if link.hasUsableState { return addressed.contains(link.index) ? 4 : 3 }
            if link.flags.contains(.lowerUp) { return 2 }
            return link.flags.contains(.up) ? 1 : 0
        }
        var ranked: [(link: LinkState, direction: Direction, progress: Int)] = []
        for link in candidates ?? links where !link.isLoopback && link.master == nil && link.role != .sink {
            ranked.append((link, Direction(of: link, among: links), progress(link)))
        }
        if ranked.contains(where: { $0.direction != .inwards }) {
            ranked.removeAll { $0.direction == .inwards }
        }
        // Ties: hardware first, then the kernel's order.
        ranked.sort {
            ($1.progress, $0.direction.rawValue, $0.link.index)
                < ($0.progress, $1.direction.rawValue, $1.link.index)
        }
        // An access point has carrier and an address, but is no uplink.
        for candidate in ranked where candidate.progress >= 3 {
            if try context.usability(of: candidate.link) == .usable { return candidate.link }
        }
        return ranked.first { $0.progress < 3 }?.link ?? ranked.first?.link
    }

    /// Where a link of this kind leads.
    fileprivate enum Direction: Int {
        case hardware, virtual, inwards

        init(of link: LinkState, among links: [LinkState]) {
            switch link.role {
            case .device, .stacked: self = .hardware
            case .aggregate:
                // A bridge may have only guests as ports.
                let leadsOut = links.contains { port in
                    switch port.role {
                    case .device, .stacked, .aggregate(.bond): port.master == link.index
                    default: false
                    }
                }
                self = leadsOut ? .hardware : .inwards
            // The uplink of a container is one of these.
            case .standalone(.virtual):
                self = link.kind == "veth" || link.kind == "netkit" ? .virtual : .inwards
            case .standalone: self = .hardware
            case .tunnel, .sink: self = .inwards
            }
        }
    }
}

extension LinkState {
    /// Whether a link of this kind can lead out of this machine, and not only to containers and guests.
    func leadsOut(among links: [LinkState]) -> Bool {
        LinkReporter.Direction(of: self, among: links) != .inwards
    }
}
