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
        var ranks: [Rank] = []
        for position in candidates.indices {
            if let rank = Rank(of: position, in: candidates, addressed, among: links) { ranks.append(rank) }
        }
        if ranks.contains(where: { $0.direction != .inwards }) {
            ranks.removeAll { $0.direction == .inwards }
        }
        // An access point has carrier and an address, but is no uplink.
        for rank in ranks.filter({ $0.progress >= 3 }).sorted() {
            let link = candidates[rank.position]
            if try context.usability(of: link) == .usable { return link }
        }
        let nearest = ranks.filter { $0.progress < 3 }.min() ?? ranks.min()
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

    /// How near a candidate is to being an uplink; the nearest is the least, then hardware, then the kernel's
    /// order.
    private struct Rank: Comparable {
        let position: Int
        let index: Int32
        let progress: Int
        let direction: Direction

        /// Nil for a link that cannot be what leads out of this machine by itself.
        ///
        /// By position, since each of thousands of copies of a link would count its references.
        ///
        /// - Parameter addressed: The indexes of the links with an address.
        init?(
            of position: Int, in candidates: [LinkState], _ addressed: Set<Int32>, among links: [LinkState]
        ) {
            let role = candidates[position].role
            if candidates[position].isLoopback || role == .sink || candidates[position].master != nil {
                return nil
            }
            self.position = position
            index = candidates[position].index
            let flags = candidates[position].flags
            progress =
                if candidates[position].hasUsableState {
                    addressed.contains(index) ? 4 : 3
                } else if flags.contains(.lowerUp) { 2 } else { flags.contains(.up) ? 1 : 0 }
            direction = Direction(role, of: index, among: links) { candidates[position].isOfContainer }
        }

        static func < (a: Rank, b: Rank) -> Bool {
            (b.progress, a.direction.rawValue, a.index) < (a.progress, b.direction.rawValue, b.index)
        }
    }

    /// Where a link of this kind leads.
    fileprivate enum Direction: Int {
        case hardware, virtual, inwards

        /// - Parameter isOfContainer: Asked for a virtual link alone.
        init(_ role: MediumRules.Role, of index: Int32, among links: [LinkState], isOfContainer: () -> Bool) {
            switch role {
            case .device, .stacked: self = .hardware
            case .aggregate:
                // A bridge may have only guests as ports.
                let leadsOut = links.contains { port in
                    switch port.role {
                    case .device, .stacked, .aggregate(.bond): port.master == index
                    default: false
                    }
                }
                self = leadsOut ? .hardware : .inwards
            case .standalone(.virtual): self = isOfContainer() ? .virtual : .inwards
            case .standalone: self = .hardware
            case .tunnel, .sink: self = .inwards
            }
        }
    }
}

extension LinkState {
    /// Whether it may be the uplink of a container.
    fileprivate var isOfContainer: Bool { kind == "veth" || kind == "netkit" }

    /// Whether a link of this kind can lead out of this machine, and not only to containers and guests.
    func leadsOut(among links: [LinkState]) -> Bool {
        LinkReporter.Direction(role, of: index, among: links) { isOfContainer } != .inwards
    }
}
