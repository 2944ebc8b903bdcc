// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

/// Which of the kernel's answers still hold.
///
/// Answers about links, addresses and devices hold until an event says that they may not: so a change of a route
/// costs route lookups alone. Answers about routes hold only over changes of routes of the other family: IPv4 routes
/// can vanish without a word of their own, but then with one about a link, an address or a nexthop. What nl80211 says
/// of a Wi-Fi interface never holds, since its signal changes all the time.
package struct AnswerMemory: Sendable {
    private var links = AnswerTable()
    private var wireless = AnswerTable()
    private var addresses: KernelAnswer?
    private var routes = PerFamily()

    private struct PerFamily: Sendable {
        var v4 = AnswerTable()
        var v6 = AnswerTable()

        subscript(family: IPAddress.Family) -> AnswerTable {
            get { family == .ipv4 ? v4 : v6 }
            _modify { if family == .ipv4 { yield &v4 } else { yield &v6 } }
        }
    }

    package init() {}

    /// The answer to `question`, where it still holds.
    package subscript(question: KernelQuestion) -> KernelAnswer? {
        switch question {
        case .route(let lookup): routes[lookup.destination.family][question]
        case .link, .linkNamed, .links, .ports, .device: links[question]
        case .addresses: addresses
        case .wireless: wireless[question]
        }
    }

    /// Keeps what may be kept.
    package mutating func remember(_ question: KernelQuestion, _ answer: KernelAnswer) {
        switch question {
        case .route(let lookup):
            if !Self.isPassing(answer) { routes[lookup.destination.family].set(question, answer) }
        // Nothing tells of an rfkill switch while the interface is down.
        case .device where Self.isRadio(answer): break
        case .link, .linkNamed, .links, .ports, .device:
            if Self.isLasting(answer) { links.set(question, answer) }
        case .addresses:
            if Self.isLasting(answer) { addresses = answer }
        case .wireless:
            // That an interface is no Wi-Fi lasts; the state of one that is does not.
            if case .failure = answer, Self.isLasting(answer) { wireless.set(question, answer) }
        }
    }

    /// Forgets what `event` may have changed.
    package mutating func notice(_ event: NetworkEvent) {
        switch event {
        case .routeAdded(let prefix), .routeRemoved(let prefix):
            routes[prefix.address.family].removeAll()
        default: forgetRoutes()
        }
        switch event {
        // A driver's event says nothing about the link; a change brings a message of its own.
        case .linkChanged(_, isWirelessNoise: true): break
        case .linkChanged, .linkRemoved, .wirelessChanged:
            links.removeAll()
            wireless.removeAll()
        case .addressAdded, .addressRemoved: addresses = nil
        case .overrun, .reopened, .resumed, .requested: self = AnswerMemory()
        case .routeAdded, .routeRemoved, .ruleChanged, .nexthopChanged, .destinationsChanged: break
        }
    }

    /// Forgets what was said about routes: time has passed.
    package mutating func forgetRoutes() {
        routes.v4.removeAll()
        routes.v6.removeAll()
    }

    /// Whether an answer is more than a failure of the moment: of the refusals, no such interface, no such family
    /// (ENOENT), not supported.
    private static func isLasting(_ answer: KernelAnswer) -> Bool {
        if case .failure(let errno) = answer { [2, 19, 95].contains(errno) } else { true }
    }

    private static func isRadio(_ answer: KernelAnswer) -> Bool {
        if case .device(let facts) = answer { facts.hasPhy80211 } else { false }
    }

    /// Whether a lookup failed for a reason of the moment: interrupted, no memory, no buffer, unreadable.
    private static func isPassing(_ answer: KernelAnswer) -> Bool {
        if case .failure(let errno) = answer { [4, 11, 12, 74, 105].contains(errno) } else { false }
    }
}
