// SPDX-License-Identifier: Apache-2.0

/// The reason why a lookup gives no path.
package final class PathFailure: Error {
    package let code: ReachabilityReason.Code
    /// The link that causes the failure.
    package let link: LinkState?
    /// The state of that link.
    package let usability: LinkUsability
    /// A sentence, if code and link are not enough.
    package let detail: String?

    package init(
        _ code: ReachabilityReason.Code, link: LinkState?, usability: LinkUsability = .usable,
        detail: String? = nil
    ) {
        self.code = code
        self.link = link
        self.usability = usability
        self.detail = detail
    }

    /// The failure behind an errno of a lookup (rtnetlink(7); measured on Linux 6.18 for both families).
    package convenience init(refusal: KernelErrno) { self.init(Self.code(of: refusal), link: nil) }

    /// Its code; `noRoute` unless a route or rule refuses.
    static func code(of refusal: KernelErrno) -> ReachabilityReason.Code {
        switch refusal.errno {
        case KernelErrno.accessDenied: .prohibited
        case KernelErrno.invalid: .blackhole
        case KernelErrno.hostUnreachable: .unreachableRoute
        default: .noRoute
        }
    }

    /// The failure for a route type; nil for types that deliver packets.
    package convenience init?(kind: RouteAnswer.Kind, isHost: Bool) {
        switch kind {
        case .unicast: return nil
        case .local where isHost, .multicast where isHost, .broadcast where isHost, .anycast where isHost:
            return nil
        case .prohibit: self.init(.prohibited, link: nil)
        case .blackhole: self.init(.blackhole, link: nil)
        case .unreachable: self.init(.unreachableRoute, link: nil)
        default: self.init(.noRoute, link: nil)
        }
    }

    /// The priority: of several failures the one with the highest rank is reported.
    package var rank: Int {
        switch code {
        case .noRoute: 0
        case .unreachableRoute: 1
        case .linkLocalOnly: 2
        case .noAddress: 3
        case .prohibited, .blackhole, .dropped: 4
        case .tunnelWithoutUnderlay: 5
        default: 6
        }
    }

    /// Whether there is no route at all, rather than one that refuses or leads to a dead link.
    package var isMissingRoute: Bool { code == .noRoute && link == nil && detail == nil }

    /// Whether another interface may replace the failed one.
    ///
    /// Only if the kernel's choice is dead by accident: refusing routes and links that drop everything are
    /// configured so, and bypassing a dead tunnel would send private traffic unprotected.
    package var allowsAlternative: Bool {
        guard let link, !link.isLoopback else { return false }
        if case .tunnel = link.role { return false }
        return switch usability {
        case .usable: code == .noAddress || code == .linkLocalOnly
        case .sink, .sinkBelow: false
        default: true
        }
    }

    /// The conclusion for `--explain`.
    package var conclusion: String {
        if let detail { return detail }
        let name = link?.name ?? ""
        guard usability == .usable else { return usability.sentence(name) }
        switch code {
        case .noAddress: return "\(name) has no address to send from"
        case .linkLocalOnly: return "\(name) has only a link-local address to send from"
        case .prohibited: return "a route or rule of type prohibit refuses it"
        case .blackhole: return "a route or rule of type blackhole swallows it"
        case .unreachableRoute: return "a route or rule of type unreachable refuses it"
        case .tunnelWithoutUnderlay:
            return "\(name) is a tunnel, and no other interface has a path to carry it"
        default: return "no route"
        }
    }
}
