// SPDX-License-Identifier: Apache-2.0

// The link to look at where there is no path.
extension LinkSurvey {
    /// Of all links the one a person would look at first: the nearest to being of use.
    ///
    /// What leads inwards, to containers and guests on this machine, counts only where there is nothing else.
    package func nearestUplink(_ inquiry: inout Inquiry) throws(Inquiry.Incomplete) -> LinkState? {
        let links = try inquiry.links()
        let addressed = Set(
            try inquiry.addresses().filter { $0.isUsable && !$0.address.isLinkLocal }.map(\.interface))
        func progress(_ link: LinkState) -> Int {
            if link.hasUsableState { return addressed.contains(link.index) ? 4 : 3 }
            if link.flags.contains(.lowerUp) { return 2 }
            return link.flags.contains(.up) ? 1 : 0
        }
        var ranked: [(link: LinkState, direction: Direction, progress: Int)] = []
        for link in links where !link.isLoopback && link.master == nil && link.role != .sink {
            ranked.append((link, Direction(of: link, among: links), progress(link)))
        }
        if ranked.contains(where: { $0.direction != .inwards }) {
            ranked.removeAll { $0.direction == .inwards }
        }
        // Of equals hardware first, and then the kernel's order.
        ranked.sort {
            ($1.progress, $0.direction.rawValue, $0.link.index)
                < ($0.progress, $1.direction.rawValue, $1.link.index)
        }
        // A radio that is an access point has carrier and an address, and yet is no way out.
        for candidate in ranked where candidate.progress >= 3 {
            if try inquiry.usability(of: candidate.link) == .usable { return candidate.link }
        }
        return ranked.first { $0.progress < 3 }?.link ?? ranked.first?.link
    }

    /// Where a link leads as far as its kind tells.
    fileprivate enum Direction: Int {
        case hardware, virtual, inwards

        init(of link: LinkState, among links: [LinkState]) {
            switch link.role {
            case .device, .stacked: self = .hardware
            case .aggregate:
                // A bond has ports that lead out, or none that do anything; a bridge may have guests alone.
                let leadsOut = links.contains { port in
                    switch port.role {
                    case .device, .stacked, .aggregate(.bond): port.master == link.index
                    default: false
                    }
                }
                self = leadsOut ? .hardware : .inwards
            // In a container the way out is one of these.
            case .standalone(.virtual):
                self = link.kind == "veth" || link.kind == "netkit" ? .virtual : .inwards
            case .standalone: self = .hardware
            case .tunnel, .sink: self = .inwards
            }
        }
    }
}

extension LinkState {
    /// Whether the link can lead out of this machine, as far as its kind tells: not to containers and guests alone.
    func leadsOut(among links: [LinkState]) -> Bool {
        LinkSurvey.Direction(of: self, among: links) != .inwards
    }
}
