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
        let candidates = candidates ?? links
        let addressed = Self.addressed(try context.addresses())
        // By position, since each copy of a link counts its references.
        var ranked: [(position: Int, direction: Direction, progress: Int)] = []
        for position in candidates.indices where candidates[position].isUplinkCandidate {
            let link = candidates[position]
            ranked.append((position, Direction(of: link, among: links), link.progress(addressed)))
        }
        if ranked.contains(where: { $0.direction != .inwards }) {
            ranked.removeAll { $0.direction == .inwards }
        }
        // Ties: hardware first, then the kernel's order.
        ranked.sort {
            ($1.progress, $0.direction.rawValue, candidates[$0.position].index)
                < ($0.progress, $1.direction.rawValue, candidates[$1.position].index)
        }
        // An access point has carrier and an address, but is no uplink.
        for candidate in ranked where candidate.progress >= 3 {
            let link = candidates[candidate.position]
            if try context.usability(of: link) == .usable { return link }
        }
        let nearest = ranked.first { $0.progress < 3 } ?? ranked.first
        return nearest.map { candidates[$0.position] }
    }

    /// The links with an address that leads beyond the link.
    private static func addressed(_ addresses: [InterfaceAddress]) -> Set<Int32> {
        var addressed: Set<Int32> = []
        for position in addresses.indices {
            if addresses[position].isUsable, !addresses[position].address.isLinkLocal {
                addressed.insert(addresses[position].interface)
            }
        }
        return addressed
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
    /// Whether it could be what leads out of this machine by itself.
    fileprivate var isUplinkCandidate: Bool { !isLoopback && master == nil && role != .sink }

    /// How near it is to being usable.
    ///
    /// - Parameter addressed: The indexes of the links with an address.
    fileprivate func progress(_ addressed: Set<Int32>) -> Int {
        if hasUsableState { return addressed.contains(index) ? 4 : 3 }
        if flags.contains(.lowerUp) { return 2 }
        return flags.contains(.up) ? 1 : 0
    }

    /// Whether a link of this kind can lead out of this machine, and not only to containers and guests.
    func leadsOut(among links: [LinkState]) -> Bool {
        LinkReporter.Direction(of: self, among: links) != .inwards
    }
}
