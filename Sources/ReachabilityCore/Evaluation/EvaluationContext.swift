// SPDX-License-Identifier: Apache-2.0

/// Thrown where a conclusion needs an answer that is missing; the context has recorded the question.
package struct MissingAnswers: Error {}

/// The state of one evaluation: its answers, the questions it still needs, and shared conclusions.
package struct EvaluationContext: ~Copyable {
    /// Answers questions in their order; nil if they stay without an answer.
    package typealias Asking = ([KernelQuestion]) -> [KernelAnswer]?

    package private(set) var snapshot: Snapshot
    private let cache: KernelCache?
    // Asked for a missing answer on the spot; without it the question is recorded in `missing`.
    private var asking: Asking?
    /// Requested questions without an answer, each once, in the order of the requests.
    package private(set) var missing: [KernelQuestion] = []
    /// How often an answer was missing.
    package private(set) var unanswered = 0
    // Those in `missing` as a set, once there are more than `linearLimit`.
    private var requested: Set<KernelQuestion>?
    /// The steps for `--explain`; nil unless they were asked for.
    package private(set) var steps: [EvaluationStep]?
    // Conclusions about ports, nil while an answer is missing: nested bridges are walked through only once.
    package var portsUsability: [PortsKey: LinkUsability?] = [:]
    package var portsMedium: [PortsKey: PhysicalMedium?] = [:]
    var knownSources = KnownSources()
    // The kernel's choices that links have been compared with.
    private var chosen: [(lookup: RouteLookup, interface: Int32)] = []
    // The policy rules, which every lookup depends on.
    private var policy: PolicyRules?
    // Ports by their master, once all links are known.
    private var portsByMaster: [Int32: [LinkState]]?
    // Most evaluations request fewer questions than pay for hashing.
    private static let linearLimit = 32

    /// The ports of `master`, `depth` devices below the link in question.
    package struct PortsKey: Hashable {
        package let master: Int32
        package let depth: Int
    }

    package init(
        _ snapshot: Snapshot, cache: KernelCache? = nil, asking: Asking? = nil, explains: Bool = false
    ) {
        self.snapshot = snapshot
        self.cache = cache
        self.asking = asking
        steps = explains ? [] : nil
    }

    /// Asks for the missing answers, together in one system call, and throws if some stay missing.
    package mutating func require(_ questions: [KernelQuestion]) throws(MissingAnswers) {
        var unknown: [KernelQuestion] = []
        for question in questions where known(question) == nil { unknown.append(question) }
        if !unknown.isEmpty { try ask(unknown) }
    }

    /// The same for one or two questions, without an array while their answers are known.
    package mutating func require(_ first: KernelQuestion, _ second: KernelQuestion? = nil)
        throws(MissingAnswers)
    {
        let isFirstKnown = known(first) != nil
        if let second, known(second) == nil {
            try ask(isFirstKnown ? [second] : [first, second])
        } else if !isFirstKnown {
            try ask([first])
        }
    }

    private mutating func answer(_ question: KernelQuestion) throws(MissingAnswers) -> KernelAnswer {
        if let answer = known(question) { return answer }
        try ask([question])
        guard let answer = known(question) else { throw MissingAnswers() }
        return answer
    }

    private mutating func ask(_ questions: [KernelQuestion]) throws(MissingAnswers) {
        guard let answers = asking?(questions) else {
            unanswered += 1
            for question in questions { request(question) }
            throw MissingAnswers()
        }
        for (question, answer) in zip(questions, answers) { snapshot.add(question, answer) }
    }

    /// Records missing answers from now on, so that many questions are asked together.
    mutating func collect() { asking = nil }

    /// The answer from the snapshot or the cache; requests nothing.
    mutating func known(_ question: KernelQuestion) -> KernelAnswer? {
        let digest = question.digest
        if let answer = snapshot[question, digest: digest] { return answer }
        guard let answer = cache?[question, digest: digest] else { return nil }
        snapshot.append(question, answer, digest: digest)
        return answer
    }

    private mutating func request(_ question: KernelQuestion) {
        if requested == nil, missing.count < Self.linearLimit {
            if !missing.contains(question) { missing.append(question) }
            return
        }
        if requested == nil { requested = Set(missing) }
        if requested?.insert(question).inserted == true { missing.append(question) }
    }

    /// The route, or the errno of the lookup.
    package mutating func route(_ lookup: RouteLookup) throws(MissingAnswers) -> Result<
        RouteAnswer, KernelErrno
    > {
        switch try answer(.route(lookup)) {
        case .route(let route): lookup.source == nil ? .success(route) : Self.route(route, from: lookup)
        case .failure(let errno): .failure(KernelErrno(errno: errno))
        default: .failure(KernelErrno(errno: KernelErrno.badMessage))
        }
    }

    /// Checks a route against the requested source and interface.
    ///
    /// With a source in the lookup, IPv6 treats the interface as a hint (RT6_LOOKUP_F_IFACE is not set in
    /// ip6_route_output_flags(), net/ipv6/route.c) and returns the source of a lookup without one.
    private static func route(
        _ route: RouteAnswer, from lookup: RouteLookup
    ) -> Result<RouteAnswer, KernelErrno> {
        var route = route
        if !lookup.wantsEntry { route.source = lookup.source }
        let wanted = lookup.interface
        let leads = wanted == 0 || route.interface == wanted || route.legs.contains { $0.interface == wanted }
        return leads ? .success(route) : .failure(KernelErrno(errno: KernelErrno.networkUnreachable))
    }

    /// The egress for an address with the kernel's choice of source; nil for no route and for this machine.
    ///
    /// - Parameter port: The TCP port; used if policy rules look at ports.
    package mutating func egress(
        to destination: IPAddress, port: UInt16 = 0
    ) throws(MissingAnswers) -> Egress? {
        let looksAtPorts = (try? selectors(destination.family))?.contains(.transport) == true
        let lookup = RouteLookup(destination: destination, port: looksAtPorts ? port : 0)
        try require([.rules, .route(lookup), .route(lookup.entry)])
        var decisive = try resolvingSource(lookup)
        // The source is in the hash that chooses among the legs of a multipath route.
        if destination.family == .ipv4, decisive.source == nil,
            case .route(let entry)? = known(.route(lookup.entry)), !entry.legs.isEmpty
        {
            decisive.port = port
            if case .success(let first) = try route(decisive), let source = first.sender {
                decisive = decisive.from(source)
            }
        }
        guard
            case .success(let route) = try route(decisive),
            route.kind == .unicast, let index = route.interface, let link = try link(index), !link.isLoopback
        else { return nil }
        var isTunnel = false
        if case .tunnel = link.role { isTunnel = true }
        let isDefault = (try? self.route(lookup.entry).get().prefixLength).map { $0 <= 1 } ?? false
        return Egress(
            link: link, isBeyondLink: route.gateway != nil || isDefault, isTunnel: isTunnel)
    }

    /// The interface of the kernel's own choice, if its route and entry are known and lead through the same
    /// one; requests nothing.
    ///
    /// Looked up once: the reports on all links ask for it.
    package mutating func chosenInterface(by lookup: RouteLookup) -> Int32? {
        for choice in chosen where choice.lookup == lookup { return choice.interface }
        guard case .route(let route) = snapshot[.route(lookup)],
            case .route(let entry) = snapshot[.route(lookup.entry)],
            let interface = route.interface, entry.interface == interface
        else { return nil }
        chosen.append((lookup, interface))
        return interface
    }

    /// Whether the kernel returns the FIB entry that `lookup` asks for (RTM_F_FIB_MATCH).
    package mutating func returnsEntry(_ lookup: RouteLookup) throws(MissingAnswers) -> Bool {
        guard case .failure(let refusal) = try route(lookup) else { return true }
        return refusal.errno != KernelErrno.unsupported
    }

    /// The interface; nil if it does not exist.
    package mutating func link(_ index: Int32) throws(MissingAnswers) -> LinkState? {
        guard case .link(let link) = try answer(.link(index)) else { return nil }
        return link
    }

    /// The interface of that name; nil if it does not exist.
    package mutating func link(named name: String) throws(MissingAnswers) -> LinkState? {
        guard let name = LinkName(exactly: name), case .link(let link) = try answer(.linkNamed(name))
        else { return nil }
        return link
    }

    /// The names of these interfaces from the snapshot, for people; requests nothing.
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

    package mutating func links() throws(MissingAnswers) -> [LinkState] {
        guard case .links(let links) = try answer(.links) else { return [] }
        return links
    }

    /// The ports of a bridge, bond or team: from the list of all links, if that is known.
    package mutating func ports(of master: Int32) throws(MissingAnswers) -> [LinkState] {
        if let portsByMaster { return portsByMaster[master] ?? [] }
        if case .links(let links)? = known(.links) {
            var ports: [Int32: [LinkState]] = [:]
            for link in links {
                if let master = link.master { ports[master, default: []].append(link) }
            }
            portsByMaster = ports
            return ports[master] ?? []
        }
        guard case .links(let links) = try answer(.ports(master: master)) else { return [] }
        return links
    }

    package mutating func addresses() throws(MissingAnswers) -> [InterfaceAddress] {
        guard case .addresses(let addresses) = try answer(.addresses) else { return [] }
        return addresses
    }

    /// The selectors of the policy rules; empty if the kernel has none.
    package mutating func rules() throws(MissingAnswers) -> PolicyRules {
        if let policy { return policy }
        guard case .rules(let rules) = try answer(.rules) else { return PolicyRules() }
        policy = rules
        return rules
    }

    /// The selectors of the policy rules of one family.
    package mutating func selectors(
        _ family: IPAddress.Family
    ) throws(MissingAnswers) -> PolicyRules.Selectors {
        if let selectors = policy?[family] { return selectors }
        return try rules()[family]
    }

    /// The state from nl80211; nil if that does not know the interface.
    package mutating func wireless(_ index: Int32) throws(MissingAnswers) -> WirelessState? {
        guard case .wireless(let state) = try answer(.wireless(index)) else { return nil }
        return state
    }

    /// The device's attributes outside netlink.
    package mutating func device(_ link: LinkState) throws(MissingAnswers) -> DeviceFacts {
        guard case .device(let facts) = try answer(.device(link.index, name: LinkName(link.name)))
        else { return DeviceFacts() }
        return facts
    }

    /// The address of a lease whose DHCP server said that traffic costs; nil if there is none.
    mutating func meteredLease(_ link: LinkState) throws(MissingAnswers) -> IPAddress? {
        guard case .meteredLease(let address) = try answer(.lease(link.index, name: LinkName(link.name)))
        else { return nil }
        return address
    }

    package var isExplaining: Bool { steps != nil }

    /// Records a step for `--explain`.
    package mutating func record(_ step: @autoclosure () -> EvaluationStep) { steps?.append(step()) }
}

/// Where the kernel sends the packets of a connection.
package struct Egress: Sendable, Equatable {
    package var link: LinkState
    /// Whether a router, or the other end of a point-to-point link, forwards them.
    package var isBeyondLink: Bool
    package var isTunnel: Bool
}
