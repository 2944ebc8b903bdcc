// SPDX-License-Identifier: Apache-2.0

/// The conversation of one evaluation with the kernel: what is known, what is still to be asked, what was concluded.
package struct Inquiry: ~Copyable {
    /// Thrown where the next conclusion needs an answer that is not there yet.
    package struct Incomplete: Error {}

    /// What is known.
    package private(set) var snapshot: Snapshot
    private let memory: AnswerMemory?
    /// Questions that came up without an answer, each once, in the order they came up.
    package private(set) var missing: [KernelQuestion] = []
    // Beyond a few, questions are found by hashing.
    private var missed: Set<KernelQuestion>?
    /// The steps for `--explain`; nil where nobody asks for them.
    package private(set) var steps: [EvaluationStep]?
    // What was concluded about the ports of a bridge or bond; nil while an answer is missing. Without it, bridges that
    // are ports of bridges would be looked through again for every way that leads to them.
    package var portsUsability: [PortsPlace: LinkUsability?] = [:]
    package var portsCarrier: [PortsPlace: Carrier?] = [:]
    // The answer about policy rules, which every lookup depends on.
    private var policy: PolicyRules?
    // Ports by their bridge or bond, where all links are known: for the sentences of a survey.
    private var grouped: [Int32: [LinkState]]?
    /// The ports of a link, that many devices below the one in question.
    package struct PortsPlace: Hashable {
        package let master: Int32
        package let depth: Int

        package init(master: Int32, depth: Int) {
            self.master = master
            self.depth = depth
        }
    }

    package init(_ snapshot: Snapshot, recalling memory: AnswerMemory? = nil, explains: Bool = false) {
        self.snapshot = snapshot
        self.memory = memory
        steps = explains ? [] : nil
    }

    /// Makes sure that `questions` are answered before anything is concluded from some of them.
    ///
    /// Questions that come together are asked together: one system call instead of one for each.
    package mutating func require(_ questions: [KernelQuestion]) throws(Incomplete) {
        var complete = true
        for question in questions where known(question) == nil {
            complete = false
            miss(question)
        }
        guard complete else { throw Incomplete() }
    }

    /// The same for one or two, which are most, without an array.
    package mutating func require(_ first: KernelQuestion, _ second: KernelQuestion? = nil) throws(Incomplete)
    {
        let isFirstKnown = known(first) != nil
        if !isFirstKnown { miss(first) }
        if let second, known(second) == nil {
            miss(second)
            throw Incomplete()
        }
        guard isFirstKnown else { throw Incomplete() }
    }

    private mutating func answer(_ question: KernelQuestion) throws(Incomplete) -> KernelAnswer {
        if let answer = known(question) { return answer }
        miss(question)
        throw Incomplete()
    }

    /// The answer as far as it is known or remembered.
    mutating func known(_ question: KernelQuestion) -> KernelAnswer? {
        if let answer = snapshot[question] { return answer }
        guard let answer = memory?[question] else { return nil }
        snapshot.append(question, answer)
        return answer
    }

    private mutating func miss(_ question: KernelQuestion) {
        if missed == nil, missing.count < 32 {
            if !missing.contains(question) { missing.append(question) }
            return
        }
        if missed == nil { missed = Set(missing) }
        if missed?.insert(question).inserted == true { missing.append(question) }
    }

    /// The route, or the errno of the refusal.
    package mutating func route(_ lookup: RouteLookup) throws(Incomplete) -> Result<
        RouteAnswer, KernelRefusal
    > {
        switch try answer(.route(lookup)) {
        case .route(let route): lookup.source == nil ? .success(route) : Self.route(route, from: lookup)
        case .failure(let errno): .failure(KernelRefusal(errno: errno))
        default: .failure(KernelRefusal(errno: KernelRefusal.nonsense))
        }
    }

    /// What a route means for the source and the interface that were asked for.
    ///
    /// Asked with a source, IPv6 takes the interface for a wish only (RT6_LOOKUP_F_IFACE is not set then in
    /// ip6_route_output_flags(), net/ipv6/route.c), and tells the source it would take without one.
    private static func route(
        _ route: RouteAnswer, from lookup: RouteLookup
    ) -> Result<RouteAnswer, KernelRefusal> {
        var route = route
        if !lookup.wantsEntry { route.source = lookup.source }
        let wanted = lookup.interface
        if wanted == 0 || route.interface == wanted || route.legs.contains(where: { $0.interface == wanted })
        {
            return .success(route)
        }
        return .failure(KernelRefusal(errno: KernelRefusal.networkUnreachable))
    }

    /// The link through which the kernel sends to an address, the source left to it; nil where that is nowhere, or this machine.
    ///
    /// - Parameter port: The TCP port there; it counts where rules look at ports.
    package mutating func egress(
        to destination: IPAddress, port: UInt16 = 0
    ) throws(Incomplete) -> LinkState? {
        let looksAtPorts = (try? selectors(destination.family))?.contains(.transport) == true
        let lookup = RouteLookup(destination: destination, port: looksAtPorts ? port : 0)
        try require([.rules, .route(lookup), .route(lookup.entry)])
        var decisive = try sending(lookup)
        // The source is in the hash that chooses among the legs of a multipath route.
        if destination.family == .ipv4, decisive.source == nil, known(lookup.entry)?.legs.isEmpty == false {
            decisive.port = port
            if case .success(let first) = try route(decisive), let source = first.sender {
                decisive = decisive.from(source)
            }
        }
        guard
            case .success(let route) = try route(decisive),
            route.kind == .unicast, let index = route.interface, let link = try link(index), !link.isLoopback
        else { return nil }
        return link
    }

    /// The route where it has been asked for already; asks nothing.
    package borrowing func known(_ lookup: RouteLookup) -> RouteAnswer? {
        guard case .route(let route) = snapshot[.route(lookup)] else { return nil }
        return route
    }

    /// Whether the kernel tells the FIB entry that `lookup` asks for (RTM_F_FIB_MATCH).
    package mutating func tellsEntry(_ lookup: RouteLookup) throws(Incomplete) -> Bool {
        guard case .failure(let refusal) = try route(lookup) else { return true }
        return refusal.errno != KernelRefusal.unsupported
    }

    /// The interface; nil where there is none (any more).
    package mutating func link(_ index: Int32) throws(Incomplete) -> LinkState? {
        guard case .link(let link) = try answer(.link(index)) else { return nil }
        return link
    }

    /// The interface of that name; nil where there is none.
    package mutating func link(named name: String) throws(Incomplete) -> LinkState? {
        guard let name = LinkName(exactly: name), case .link(let link) = try answer(.linkNamed(name)) else {
            return nil
        }
        return link
    }

    /// The names of those of these interfaces that have come up already, for people; asks nothing.
    package borrowing func names(of indexes: [Int32]) -> [Int32: String] {
        var names: [Int32: String] = [:]
        for index in indexes {
            if case .link(let link) = snapshot[.link(index)] { names[index] = link.name }
        }
        if case .links(let links) = snapshot[.links] {
            for link in links where indexes.contains(link.index) { names[link.index] = link.name }
        }
        return names
    }

    /// All interfaces.
    package mutating func links() throws(Incomplete) -> [LinkState] {
        guard case .links(let links) = try answer(.links) else { return [] }
        return links
    }

    /// The ports of a bridge, bond or team.
    package mutating func ports(of master: Int32) throws(Incomplete) -> [LinkState] {
        guard case .links(let links) = try answer(.ports(master: master)) else { return [] }
        return links
    }

    /// The same from the list of all links where that is known, which a survey has asked for.
    mutating func knownPorts(of master: Int32) throws(Incomplete) -> [LinkState] {
        if let grouped { return grouped[master] ?? [] }
        guard case .links(let links) = known(.links) else { return try ports(of: master) }
        var grouped: [Int32: [LinkState]] = [:]
        for link in links {
            if let master = link.master { grouped[master, default: []].append(link) }
        }
        self.grouped = grouped
        return grouped[master] ?? []
    }

    /// All addresses.
    package mutating func addresses() throws(Incomplete) -> [InterfaceAddress] {
        guard case .addresses(let addresses) = try answer(.addresses) else { return [] }
        return addresses
    }

    /// What the policy rules look at; nothing where the kernel has none.
    package mutating func rules() throws(Incomplete) -> PolicyRules {
        if let policy { return policy }
        guard case .rules(let rules) = try answer(.rules) else { return PolicyRules() }
        policy = rules
        return rules
    }

    /// What the policy rules of one family look at.
    package mutating func selectors(
        _ family: IPAddress.Family
    ) throws(Incomplete) -> PolicyRules.Selectors {
        if let selectors = policy?[family] { return selectors }
        return try rules()[family]
    }

    /// What nl80211 says; nil where it does not know the interface.
    package mutating func wireless(_ index: Int32) throws(Incomplete) -> WirelessState? {
        guard case .wireless(let state) = try answer(.wireless(index)) else { return nil }
        return state
    }

    /// What the device says of itself.
    package mutating func device(_ link: LinkState) throws(Incomplete) -> DeviceFacts {
        guard case .device(let facts) = try answer(.device(link.index, name: LinkName(link.name))) else {
            return DeviceFacts()
        }
        return facts
    }

    /// Whether somebody wants the steps.
    package var isExplaining: Bool { steps != nil }

    /// Notes a step, where somebody wants to know how the conclusion came about.
    package mutating func note(_ step: @autoclosure () -> EvaluationStep) {
        guard steps != nil else { return }
        steps?.append(step())
    }
}

/// The errno with which the kernel refused an answer.
package struct KernelRefusal: Error, Sendable, Hashable {
    package let errno: Int32

    package init(errno: Int32) { self.errno = errno }

    // The numbers are those of asm-generic/errno.h; the standard library has no names for them.
    package static let interrupted: Int32 = 4
    package static let tryAgain: Int32 = 11
    package static let noMemory: Int32 = 12
    package static let accessDenied: Int32 = 13
    package static let noDevice: Int32 = 19
    package static let invalid: Int32 = 22
    package static let nonsense: Int32 = 74
    /// What was asked for is newer than the kernel: RTM_F_FIB_MATCH before Linux 4.13.
    package static let unsupported: Int32 = 95
    package static let networkUnreachable: Int32 = 101
    package static let noBuffers: Int32 = 105
    package static let hostUnreachable: Int32 = 113

    /// Whether it says nothing of the network, only that the kernel could not answer at this moment.
    package var isOfTheMoment: Bool {
        switch errno {
        case Self.interrupted, Self.tryAgain, Self.noMemory, Self.nonsense, Self.noBuffers: true
        default: false
        }
    }
}
