// SPDX-License-Identifier: Apache-2.0

/// The kernel's answers that are still valid, for one thread at a time.
///
/// Answers about links, addresses and devices hold until an event may have changed them, so a change of a
/// route costs route lookups alone, and so does one of a link, whose event has its new state
/// (``CachedLinks``). Answers about routes hold over changes of routes of the other family and, if they are
/// bound to a link, of routes through another link. IPv4 routes can vanish without an event of their own, but
/// only along with an event about a link, an address or a nexthop. The nl80211 state of a Wi-Fi interface is
/// never kept, because its signal changes all the time.
package final class KernelCache {
    private var answers = CachedAnswers()
    /// Grows with each event that may have changed more than routes.
    package private(set) var linkVersion: UInt64 = 0

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
    package func invalidate(after event: NetworkEvent) {
        if !event.changesOnlyRoutes { linkVersion += 1 }
        answers.invalidate(after: event)
    }

    /// Replaces what the events of one read tell, and removes what else they may have changed.
    ///
    /// A loss removes all answers, and what is told after it replaces none: it is from before the loss
    /// (NETLINK_S_CONGESTED, net/netlink/af_netlink.c).
    package func apply(_ events: [NetworkEvent]) {
        for event in events {
            if answers.learn(event) { linkVersion += 1 } else { invalidate(after: event) }
        }
    }

    /// Removes the answers about routes, because time has passed.
    package func forgetRoutes() { answers.forgetRoutes() }
}

/// The storage of a ``KernelCache``; not copyable, so that reading one answer does not retain all the tables.
private struct CachedAnswers: ~Copyable {
    private var links = CachedLinks()
    private var leases = AnswerTable()
    private var addresses: KernelAnswer?
    private var rules: KernelAnswer?
    private var routes = PerFamily()

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
        case .link, .linkNamed, .links, .ports, .device, .wireless: links[question, digest: digest]
        case .addresses: addresses
        case .rules: rules
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
        case .link, .linkNamed, .links, .ports, .device, .wireless: links.store(question, answer)
        case .addresses: if answer.isLasting { addresses = answer }
        case .rules:
            // A kernel without policy routing refuses for good.
            if case .failure(let errno) = answer, KernelErrno(errno: errno).isTransient { break }
            rules = answer
        case .lease: leases.set(question, answer)
        }
    }

    /// Keeps what an event tells; false if it tells nothing whole.
    ///
    /// The state of a bridge port comes in messages of the bridge too, which have little else.
    mutating func learn(_ event: NetworkEvent) -> Bool {
        switch event {
        case .linkChanged(let link, isWirelessNoise: false) where link.bridgePortState == nil:
            links.changed(link)
        case .linkRemoved(let index):
            links.removed(index)
            leases.removeAll { if case .lease(index, _) = $0.question { true } else { false } }
        default: return false
        }
        forgetRoutes()
        return true
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
            links.forget()
        // disable_ipv6 has no message of its own; it removes and restores the link-local address.
        case .addressAdded(let address):
            addresses = nil
            if links.hasOneWithoutIPv6, address.isIPv6LinkLocal { links.forget() }
        case .addressRemoved(let address):
            addresses = nil
            if address.isIPv6LinkLocal { links.forget() }
        // Whether a link accepts router advertisements depends on forwarding.
        case .settingChanged(.ipv6): links.forget()
        case .overrun, .reopened, .resumed, .requested:
            links.forget()
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

    /// A route through `interface` was added or removed; nil if it can affect every lookup of its family.
    private mutating func forgetRoutes(_ family: IPAddress.Family, through interface: Int32?) {
        routes[family].free.removeAll()
        // A lookup bound to a VRF, before Linux 6.1 also one bound to its port, uses the VRF's table unbound.
        guard let interface, links.hasVRF == false else { return routes[family].bound.removeAll() }
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

extension NetworkEvent {
    /// Whether answers about links, addresses, rules and leases stay valid.
    fileprivate var changesOnlyRoutes: Bool {
        switch self {
        case .routeAdded, .routeRemoved, .nexthopChanged, .routerChanged, .destinationsChanged,
            .settingChanged(.ipv4):
            true
        case .linkChanged, .linkRemoved, .addressAdded, .addressRemoved, .ruleChanged, .settingChanged(.ipv6),
            .wirelessChanged, .overrun, .reopened, .resumed, .requested:
            false
        }
    }
}
