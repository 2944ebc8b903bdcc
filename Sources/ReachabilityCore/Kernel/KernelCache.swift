// SPDX-License-Identifier: Apache-2.0

/// The kernel's answers that are still valid, for one thread at a time.
///
/// Answers about links, addresses and devices hold until an event may have changed them, so a change of a
/// route costs route lookups alone. Answers about routes hold over changes of routes of the other family and,
/// if they are bound to a link, of routes through another link. IPv4 routes can vanish without an event of
/// their own, but only along with an event about a link, an address or a nexthop. The nl80211 state of a
/// Wi-Fi interface is never kept, because its signal changes all the time.
package final class KernelCache {
    private var answers = CachedAnswers()

    package init() {}

    /// The answer to `question`, if it is still valid.
    package subscript(question: KernelQuestion) -> KernelAnswer? {
        answers[question, digest: question.digest]
    }

    /// The same for a question whose digest is known.
    subscript(question: KernelQuestion, digest digest: UInt64) -> KernelAnswer? {
        answers[question, digest: digest]
    }

    /// Stores the answer, if an event announces when it becomes invalid.
    package func store(_ question: KernelQuestion, _ answer: KernelAnswer) { answers.store(question, answer) }

    /// Removes what `event` may have changed.
    package func invalidate(after event: NetworkEvent) { answers.invalidate(after: event) }

    /// Removes the answers about routes, because time has passed.
    package func forgetRoutes() { answers.forgetRoutes() }
}

/// The storage of a ``KernelCache``; not copyable, so that reading one answer does not retain all the tables.
private struct CachedAnswers: ~Copyable {
    private var links = AnswerTable()
    private var wireless = AnswerTable()
    private var leases = AnswerTable()
    private var addresses: KernelAnswer?
    private var rules: KernelAnswer?
    private var routes = PerFamily()
    /// Whether there is a VRF; nil while unknown.
    private var hasVRF: Bool?
    /// Whether a stored link has IPv6 switched off.
    private var hasLinkWithoutIPv6 = false

    /// Lookups by the family of their destination.
    private struct PerFamily: Sendable {
        var v4 = Lookups()
        var v6 = Lookups()

        subscript(family: IPAddress.Family) -> Lookups {
            get { family == .ipv4 ? v4 : v6 }
            _modify { if family == .ipv4 { yield &v4 } else { yield &v6 } }
        }
    }

    /// Lookups bound to a link (RTA_OIF), and those that are not.
    private struct Lookups: Sendable {
        var bound = AnswerTable()
        var free = AnswerTable()

        mutating func removeAll() {
            bound.removeAll()
            free.removeAll()
        }
    }

    subscript(question: KernelQuestion, digest digest: UInt64) -> KernelAnswer? {
        switch question {
        case .route(let lookup):
            switch (lookup.destination.family, lookup.interface) {
            case (.ipv4, 0): routes.v4.free[question, digest: digest]
            case (.ipv4, _): routes.v4.bound[question, digest: digest]
            case (.ipv6, 0): routes.v6.free[question, digest: digest]
            case (.ipv6, _): routes.v6.bound[question, digest: digest]
            }
        case .link, .linkNamed, .links, .ports, .device: links[question, digest: digest]
        case .addresses: addresses
        case .rules: rules
        case .wireless: wireless[question, digest: digest]
        case .lease: leases[question, digest: digest]
        }
    }

    mutating func store(_ question: KernelQuestion, _ answer: KernelAnswer) {
        switch question {
        case .route(let lookup):
            guard !Self.expires(answer) else { break }
            if lookup.interface == 0 {
                routes[lookup.destination.family].free.set(question, answer)
            } else {
                routes[lookup.destination.family].bound.set(question, answer)
            }
        // There is no event for an rfkill switch while the interface is down.
        case .device where Self.isRadio(answer): break
        case .link, .linkNamed, .links, .ports, .device:
            guard Self.isLasting(answer) else { break }
            links.set(question, answer)
            if case .links(let all) = answer, question == .links {
                hasVRF = all.contains { $0.kind == "vrf" }
            }
            if !hasLinkWithoutIPv6 { hasLinkWithoutIPv6 = Self.containsLinkWithoutIPv6(answer) }
        case .addresses: if Self.isLasting(answer) { addresses = answer }
        case .rules:
            // A kernel without policy routing refuses for good.
            if case .failure(let errno) = answer, KernelErrno(errno: errno).isTransient { break }
            rules = answer
        case .wireless:
            // Not being Wi-Fi is permanent; the state of a Wi-Fi interface is not.
            if case .failure = answer, Self.isLasting(answer) { wireless.set(question, answer) }
        case .lease: leases.set(question, answer)
        }
    }

    mutating func invalidate(after event: NetworkEvent) {
        switch event {
        case .routeAdded(let prefix, let interface), .routeRemoved(let prefix, let interface):
            forgetRoutes(prefix.address.family, through: interface)
        default: forgetRoutes()
        }
        forgetLeases(after: event)
        switch event {
        // A driver's event says nothing about the link; a change of the link has its own message.
        case .linkChanged(_, isWirelessNoise: true): break
        case .linkChanged, .linkRemoved, .wirelessChanged:
            forgetLinks()
            wireless.removeAll()
        // disable_ipv6 has no message of its own; it removes and restores the link-local address.
        case .addressAdded(let address):
            addresses = nil
            if hasLinkWithoutIPv6, address.isIPv6LinkLocal { forgetLinks() }
        case .addressRemoved(let address):
            addresses = nil
            if address.isIPv6LinkLocal { forgetLinks() }
        // Whether a link accepts router advertisements depends on forwarding.
        case .settingChanged(.ipv6): forgetLinks()
        case .overrun, .reopened, .resumed, .requested:
            forgetLinks()
            wireless.removeAll()
            addresses = nil
            rules = nil
        case .ruleChanged: rules = nil
        case .routeAdded, .routeRemoved, .settingChanged, .nexthopChanged, .routerChanged,
            .destinationsChanged:
            break
        }
    }

    /// A DHCP client writes its lease before it sets the address, or before the default route at the latest;
    /// then the files are looked at after the evaluation (`KernelQuerying.leasesHaveChanged()`).
    private mutating func forgetLeases(after event: NetworkEvent) {
        switch event {
        case .routeAdded, .routeRemoved, .ruleChanged, .settingChanged, .nexthopChanged, .routerChanged,
            .destinationsChanged, .linkChanged(_, isWirelessNoise: true):
            break
        default: leases.removeAll()
        }
    }

    private mutating func forgetLinks() {
        links.removeAll()
        hasVRF = nil
        hasLinkWithoutIPv6 = false
    }

    /// A route through `interface` was added or removed; nil if it can affect every lookup of its family.
    private mutating func forgetRoutes(_ family: IPAddress.Family, through interface: Int32?) {
        routes[family].free.removeAll()
        // A lookup bound to a VRF, before Linux 6.1 also one bound to its port, uses the VRF's table unbound.
        guard let interface, hasVRF == false else { return routes[family].bound.removeAll() }
        routes[family].bound.removeAll { entry in
            guard case .route(let lookup) = entry.question, lookup.interface != interface else { return true }
            // With a source, IPv6 may answer with a route of another interface.
            if lookup.source != nil { return true }
            // A multipath route is shown with all legs, including those through other links.
            if case .route(let route) = entry.answer { return !route.legs.isEmpty }
            return false
        }
    }

    mutating func forgetRoutes() {
        routes.v4.removeAll()
        routes.v6.removeAll()
    }

    /// Whether an answer is permanent: any but a failure, and ENOENT (no such family), ENODEV, EOPNOTSUPP.
    private static func isLasting(_ answer: KernelAnswer) -> Bool {
        if case .failure(let errno) = answer { [2, 19, 95].contains(errno) } else { true }
    }

    private static func containsLinkWithoutIPv6(_ answer: KernelAnswer) -> Bool {
        switch answer {
        case .link(let link): link.ipv6?.isDisabled == true
        case .links(let links): links.contains { $0.ipv6?.isDisabled == true }
        default: false
        }
    }

    private static func isRadio(_ answer: KernelAnswer) -> Bool {
        if case .device(let facts) = answer { facts.hasPhy80211 } else { false }
    }

    /// Whether an answer is a transient failure, or a route whose lifetime counts from now.
    private static func expires(_ answer: KernelAnswer) -> Bool {
        switch answer {
        case .failure(let errno): KernelErrno(errno: errno).isTransient
        case .route(let route): route.expires ?? 0 != 0
        default: false
        }
    }
}

extension InterfaceAddress {
    /// The address that the kernel assigns to each link with IPv6.
    fileprivate var isIPv6LinkLocal: Bool { address.family == .ipv6 && address.isLinkLocal }
}
