// SPDX-License-Identifier: Apache-2.0

/// Which of the kernel's answers still hold.
///
/// Answers about links, addresses and devices hold until an event says that they may not: so a change of a route
/// costs route lookups alone. Answers about routes hold only over changes of routes: of the other family, or, where
/// they are bound to a link, of routes through another link alone. IPv4 routes can vanish without a word of their own,
/// but then with one about a link, an address or a nexthop. What nl80211 says of a Wi-Fi interface never holds, since
/// its signal changes all the time.
///
/// One object, asked where the answers are needed; used by one thread at a time, like whoever answers.
package final class AnswerMemory {
    private var answers = LastingAnswers()

    package init() {}

    /// The answer to `question`, where it still holds.
    package subscript(question: KernelQuestion) -> KernelAnswer? { answers[question] }

    /// Keeps what may be kept.
    package func remember(_ question: KernelQuestion, _ answer: KernelAnswer) {
        answers.remember(question, answer)
    }

    /// Forgets what `event` may have changed.
    package func notice(_ event: NetworkEvent) { answers.notice(event) }

    /// Forgets what was said about routes: time has passed.
    package func forgetRoutes() { answers.forgetRoutes() }
}

/// What an ``AnswerMemory`` holds; not to be copied, so that reading one answer does not retain all the tables.
private struct LastingAnswers: ~Copyable {
    private var links = AnswerTable()
    private var wireless = AnswerTable()
    private var addresses: KernelAnswer?
    private var rules: KernelAnswer?
    private var routes = PerFamily()
    /// Whether there is a VRF; nil while that is not known.
    private var hasVRF: Bool?
    /// Whether an answer says of a link that IPv6 is switched off.
    private var knowsLinkWithoutIPv6 = false

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

    /// The answer to `question`, where it still holds.
    subscript(question: KernelQuestion) -> KernelAnswer? {
        switch question {
        case .route(let lookup):
            switch (lookup.destination.family, lookup.interface) {
            case (.ipv4, 0): routes.v4.free[question]
            case (.ipv4, _): routes.v4.bound[question]
            case (.ipv6, 0): routes.v6.free[question]
            case (.ipv6, _): routes.v6.bound[question]
            }
        case .link, .linkNamed, .links, .ports, .device: links[question]
        case .addresses: addresses
        case .rules: rules
        case .wireless: wireless[question]
        }
    }

    /// Keeps what may be kept.
    mutating func remember(_ question: KernelQuestion, _ answer: KernelAnswer) {
        switch question {
        case .route(let lookup):
            guard !Self.isPassing(answer) else { break }
            if lookup.interface == 0 {
                routes[lookup.destination.family].free.set(question, answer)
            } else {
                routes[lookup.destination.family].bound.set(question, answer)
            }
        // Nothing tells of an rfkill switch while the interface is down.
        case .device where Self.isRadio(answer): break
        case .link, .linkNamed, .links, .ports, .device:
            guard Self.isLasting(answer) else { break }
            links.set(question, answer)
            if case .links(let all) = answer, question == .links {
                hasVRF = all.contains { $0.kind == "vrf" }
            }
            if !knowsLinkWithoutIPv6 { knowsLinkWithoutIPv6 = Self.tellsLinkWithoutIPv6(answer) }
        case .addresses:
            if Self.isLasting(answer) { addresses = answer }
        case .rules:
            // A kernel without policy routing refuses, and goes on refusing.
            if case .failure(let errno) = answer, KernelRefusal(errno: errno).isOfTheMoment { break }
            rules = answer
        case .wireless:
            // That an interface is no Wi-Fi lasts; the state of one that is does not.
            if case .failure = answer, Self.isLasting(answer) { wireless.set(question, answer) }
        }
    }

    /// Forgets what `event` may have changed.
    mutating func notice(_ event: NetworkEvent) {
        switch event {
        case .routeAdded(let prefix, let interface), .routeRemoved(let prefix, let interface):
            forgetRoutes(prefix.address.family, through: interface)
        default: forgetRoutes()
        }
        switch event {
        // A driver's event says nothing about the link; a change brings a message of its own.
        case .linkChanged(_, isWirelessNoise: true): break
        case .linkChanged, .linkRemoved, .wirelessChanged:
            forgetLinks()
            wireless.removeAll()
        // disable_ipv6 has no message of its own: the link-local address goes with it and comes back.
        case .addressAdded(let address):
            addresses = nil
            if knowsLinkWithoutIPv6, address.isIPv6LinkLocal { forgetLinks() }
        case .addressRemoved(let address):
            addresses = nil
            if address.isIPv6LinkLocal { forgetLinks() }
        // What a link does with router advertisements depends on forwarding.
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

    private mutating func forgetLinks() {
        links.removeAll()
        hasVRF = nil
        knowsLinkWithoutIPv6 = false
    }

    /// A route through `interface` was added or removed; nil for one that can concern every lookup of its family.
    private mutating func forgetRoutes(_ family: IPAddress.Family, through interface: Int32?) {
        routes[family].free.removeAll()
        // A lookup bound to a VRF, before Linux 6.1 also to one of its ports, goes through the VRF's table unbound.
        guard let interface, hasVRF == false else {
            return routes[family].bound.removeAll()
        }
        routes[family].bound.removeAll { entry in
            guard case .route(let lookup) = entry.question, lookup.interface != interface else { return true }
            // Asked with a source, IPv6 may answer with a route of another interface.
            if lookup.source != nil { return true }
            // Of a multipath route the kernel shows all legs, those through other links too.
            if case .route(let route) = entry.answer { return !route.legs.isEmpty }
            return false
        }
    }

    /// Forgets what was said about routes: time has passed.
    mutating func forgetRoutes() {
        routes.v4.removeAll()
        routes.v6.removeAll()
    }

    /// Whether an answer is more than a failure of the moment: of the refusals, no such interface, no such family
    /// (ENOENT), not supported.
    private static func isLasting(_ answer: KernelAnswer) -> Bool {
        if case .failure(let errno) = answer { [2, 19, 95].contains(errno) } else { true }
    }

    private static func tellsLinkWithoutIPv6(_ answer: KernelAnswer) -> Bool {
        switch answer {
        case .link(let link): link.ipv6?.isDisabled == true
        case .links(let links): links.contains { $0.ipv6?.isDisabled == true }
        default: false
        }
    }

    private static func isRadio(_ answer: KernelAnswer) -> Bool {
        if case .device(let facts) = answer { facts.hasPhy80211 } else { false }
    }

    /// Whether an answer about a route is of the moment: a failure (interrupted, no memory, no buffer, unreadable),
    /// or a route that expires, since it says when as seen from then.
    private static func isPassing(_ answer: KernelAnswer) -> Bool {
        switch answer {
        case .failure(let errno): KernelRefusal(errno: errno).isOfTheMoment
        case .route(let route): route.expires ?? 0 != 0
        default: false
        }
    }
}

extension InterfaceAddress {
    /// The address that the kernel gives a link as soon as it has IPv6.
    fileprivate var isIPv6LinkLocal: Bool { address.family == .ipv6 && address.isLinkLocal }
}
