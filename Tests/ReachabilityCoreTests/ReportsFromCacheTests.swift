// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// A kernel in memory with a cache like that of the real client.
private struct CachedKernel {
    var network: FakeNetwork
    let cache: KernelCache
    var evaluator: PathEvaluator
    var former = FormerReports()
    /// The questions whose answers the last reports used.
    private(set) var used: [KernelQuestion] = []

    init(
        _ network: FakeNetwork, _ evaluator: PathEvaluator = .general,
        _ cache: KernelCache = KernelCache()
    ) {
        self.network = network
        self.evaluator = evaluator
        self.cache = cache
    }

    /// The reports as a monitor makes them: after the evaluation, from the same snapshot.
    mutating func reports() -> [LinkReport] {
        var snapshot = Snapshot()
        for _ in 0..<40 {
            guard case .needs(let questions) = evaluator.evaluate(&snapshot, cache: cache) else { break }
            answer(questions, &snapshot)
        }
        let reporter = LinkReporter(evaluator: evaluator, former: former)
        var finished = LinkReporter.Finished()
        for _ in 0..<40 {
            switch reporter.report(&snapshot, cache: cache, finished: &finished) {
            case .reports(let reports):
                former = former.succeeded(by: reports, snapshot, cache, evaluator.costs)
                used = snapshot.entries.map(\.question)
                return reports
            case .needs(let questions): answer(questions, &snapshot)
            }
        }
        return []
    }

    /// The path and the reports of an evaluation that is answered whenever it asks, as by a kernel; without
    /// cached answers, and nil if it has to be repeated.
    func askedOnTheSpot() -> (path: ReachabilityPath, reports: [LinkReport])? {
        let (network, cache) = (network, KernelCache())
        let asking: EvaluationContext.Asking = { $0.map { network.answer($0) } }
        var snapshot = Snapshot()
        var finished = LinkReporter.Finished()
        guard case .path(let path, _) = evaluator.evaluate(&snapshot, cache: cache, asking: asking),
            case .reports(let reports) = LinkReporter(evaluator: evaluator).report(
                &snapshot, cache: cache, finished: &finished, asking: asking)
        else { return nil }
        // All that was used is in the snapshot, for recordings.
        guard case .path(let again, _) = evaluator.evaluate(snapshot), again == path,
            case .reports(reports) = LinkReporter(evaluator: evaluator).report(snapshot)
        else { return nil }
        return (path, reports)
    }

    private mutating func answer(_ questions: [KernelQuestion], _ snapshot: inout Snapshot) {
        for question in questions {
            let answer = network.answer(question)
            cache.store(question, answer)
            snapshot.add(question, answer)
        }
    }

    /// The reports without cached answers and former reports, made anew with all answers.
    func uncachedReports() -> [LinkReport] {
        var snapshot = Snapshot()
        var fresh = CachedKernel(network, evaluator)
        for _ in 0..<40 {
            guard case .needs(let questions) = evaluator.evaluate(snapshot) else { break }
            fresh.answer(questions, &snapshot)
        }
        for _ in 0..<40 {
            switch LinkReporter(evaluator: evaluator).report(snapshot) {
            case .reports(let reports): return reports
            case .needs(let questions): fresh.answer(questions, &snapshot)
            }
        }
        return []
    }
}

@Suite("Reports from remembered answers")
struct ReportsFromCacheTests {
    private static let anywhere = ["0.0.0.0/0", "::/0"].compactMap { IPPrefix($0) }

    /// Two uplinks, an idle link, one without carrier, a bridge with a port, a Wi-Fi interface, a VLAN.
    private static var network: FakeNetwork {
        var network = FakeNetwork()
        for (name, number) in [("eth0", 1), ("eth1", 2), ("idle", 3)] {
            let link = network.addLink(name)
            network.addAddress("10.0.\(number).2/24", to: link)
            network.addAddress("2001:db8:\(number)::2/64", to: link)
        }
        network.addLink("dark", up: false)
        let bridge = network.addLink("br0", kind: "bridge")
        network.addLink("port", master: bridge)
        network.addAddress("10.0.6.2/24", to: bridge)
        let radio = network.addLink("wlan0")
        network.wireless[radio] = WirelessState(mode: 2)
        network.addAddress("10.0.7.2/24", to: radio)
        network.addAddress("10.0.8.2/24", to: network.addLink("br0.8", kind: "vlan", lower: bridge))
        return network
    }

    @Test("a refusal of the kernel reaches the reports on all links, and its end as well")
    func refusal() throws {
        var kernel = CachedKernel(Self.network)
        _ = kernel.reports()
        let free = try #require(kernel.reports().first { $0.name == "idle" })
        // The event names one link, as for a route; only unbound lookups reveal its effect.
        kernel.network.addRoute("0.0.0.0/0", on: 99, kind: .prohibit)
        kernel.cache.invalidate(after: .routeAdded(Self.anywhere[0], through: 99))
        let refused = try #require(kernel.reports().first { $0.name == "idle" })
        #expect(refused != free)
        #expect(kernel.reports() == kernel.uncachedReports())
        kernel.network.removeRoutes("0.0.0.0/0")
        kernel.cache.invalidate(after: .routeRemoved(Self.anywhere[0], through: 99))
        #expect(kernel.reports().first { $0.name == "idle" } == free)
    }

    @Test("another target has reports of its own")
    func target() throws {
        var network = Self.network
        network.addRoute("0.0.0.0/0", via: "10.0.1.1", on: network.index("eth0"), metric: 9)
        network.addRoute("0.0.0.0/0", via: "10.0.2.1", on: network.index("eth1"))
        var general = CachedKernel(network)
        let before = general.reports()
        var host = CachedKernel(
            network,
            PathEvaluator(
                target: .host([ReachabilityDestination(try #require(IPAddress("10.0.3.77")))]),
                configuration: ReachabilityConfiguration()), general.cache)
        let reports = host.reports()
        #expect(
            reports.first { $0.name == "br0.8" }?.reason.sentence
                == "br0.8 has carrier and 10.0.8.2/24 but no route to 10.0.3.77")
        #expect(reports == host.uncachedReports())
        #expect(general.reports() == before)
    }

    @Test(
        "API-570 after any changes in any order, reports are those made without remembered answers",
        arguments: 0..<60)
    func anyChanges(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var network = Self.network
        // A radio's state is asked for each time; without one, reports hold over changes of routes.
        if seed.isMultiple(of: 2) { network.wireless = [:] }
        var kernel = CachedKernel(network)
        for _ in 0..<60 {
            change(&kernel, &random)
            #expect(kernel.reports() == kernel.uncachedReports())
        }
    }

    @Test("API-577 a change of a route looks at no link that cannot be used, unless a recording needs it")
    func obstacles() throws {
        var network = Self.network
        network.wireless = [:]
        var kernel = CachedKernel(network)
        let before = kernel.reports()
        let dark = try #require(before.first { $0.name == "dark" })
        let answers = kernel.used.count
        kernel.network.addRoute("0.0.0.0/0", via: "10.0.1.1", on: 2)
        kernel.cache.apply([.routeAdded(Self.anywhere[0], through: 2)])
        #expect(kernel.reports() == kernel.uncachedReports())
        #expect(!kernel.used.contains(.device(dark.index, name: LinkName("dark"))))
        #expect(kernel.used.count < answers)
        kernel.former.requireAnswers()
        kernel.cache.apply([.routeAdded(Self.anywhere[0], through: 2)])
        #expect(kernel.reports() == kernel.uncachedReports())
        #expect(kernel.used.contains(.device(dark.index, name: LinkName("dark"))))
        // Costs come without an event.
        kernel.evaluator.costs.hints = [InterfaceHint(name: "dark", index: dark.index, metered: .yes)]
        #expect(kernel.reports() == kernel.uncachedReports())
        #expect(kernel.reports().first { $0.name == "dark" }?.metered == .yes)
    }

    @Test("API-577 a radio is looked at with each change of a route: its switch has no event")
    func radioSwitch() throws {
        var network = Self.network
        let radio = network.index("wlan0")
        network.wireless = [:]
        network.devices[radio] = DeviceFacts(type: "wlan", hasPhy80211: true)
        network.change(radio) { $0.flags = [] }
        var kernel = CachedKernel(network)
        let before = kernel.reports().first { $0.index == radio }
        kernel.network.devices[radio]?.isRadioBlocked = true
        kernel.cache.apply([.routeAdded(Self.anywhere[0], through: 2)])
        let after = kernel.reports()
        #expect(after == kernel.uncachedReports())
        #expect(before != nil && after.first { $0.index == radio } != before)
    }

    @Test(
        "UPL-500: asked for on the spot or collected, the same answers lead to the same path and reports",
        arguments: 0..<20)
    func onTheSpot(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var network = Self.network
        // With more links the questions of all reports are collected.
        let idle = network.index("idle")
        network.links.removeAll { $0.index == idle }
        network.addresses.removeAll { $0.interface == idle }
        network.routes.removeAll { $0.interface == idle }
        var kernel = CachedKernel(network)
        for _ in 0..<60 {
            change(&kernel, &random, adding: false)
            let asked = try #require(kernel.askedOnTheSpot())
            #expect(asked.reports == kernel.uncachedReports())
            #expect(asked.path == kernel.network.evaluate(.general))
        }
    }

    @Test("UPL-501: the questions about many links are asked together")
    func manyLinks() {
        var network = Self.network
        for number in 0..<20 {
            network.addAddress("10.1.\(number).2/24", to: network.addLink("eth1\(number)"))
        }
        let (cache, counted) = (KernelCache(), Calls())
        let asking: EvaluationContext.Asking = { [network] questions in
            counted.calls += 1
            return questions.map { network.answer($0) }
        }
        var snapshot = Snapshot()
        _ = PathEvaluator.general.evaluate(&snapshot, cache: cache, asking: asking)
        counted.calls = 0
        var finished = LinkReporter.Finished()
        guard
            case .needs(let questions) = LinkReporter(evaluator: .general).report(
                &snapshot, cache: cache, finished: &finished, asking: asking)
        else {
            Issue.record("each link was asked about by itself")
            return
        }
        #expect(questions.count > 20)
        #expect(counted.calls <= 1)
    }

    private final class Calls { var calls = 0 }

    /// Changes the network at random and passes the kernel's events on.
    ///
    /// - Parameter adding: Whether links may be added.
    private func change(
        _ kernel: inout CachedKernel, _ random: inout SeededGenerator, adding: Bool = true
    ) {
        let links = kernel.network.links.filter { !$0.isLoopback }
        guard let link = links.randomElement(using: &random) else { return }
        let isIPv4 = Bool.random(using: &random)
        let prefix = Self.anywhere[isIPv4 ? 0 : 1]
        let gateway = isIPv4 ? "10.0.\(link.index - 1).1" : "2001:db8:\(link.index - 1)::1"
        switch Int.random(in: 0..<13, using: &random) {
        case 0...2:
            kernel.network.addRoute(
                prefix.description, via: gateway, on: link.index, metric: .random(in: 0..<3, using: &random))
            kernel.cache.apply([.routeAdded(prefix, through: link.index)])
        case 3...4:
            let (index, isSame) = (link.index, { (route: FakeNetwork.Route) in route.prefix == prefix })
            kernel.network.routes.removeAll { isSame($0) && $0.interface == index }
            kernel.cache.apply([.routeRemoved(prefix, through: index)])
        case 5:
            let kind: RouteAnswer.Kind =
                [.prohibit, .blackhole, .unreachable].randomElement(using: &random) ?? .prohibit
            kernel.network.addRoute(prefix.description, metric: 5, kind: kind)
            kernel.cache.apply([.routeAdded(prefix)])
        case 6:
            let legs = links.shuffled(using: &random).prefix(2).map { RouteAnswer.Leg(interface: $0.index) }
            kernel.network.addRoute(prefix.description, metric: 1, legs: legs)
            kernel.cache.apply([.routeAdded(prefix)])
        case 7:
            kernel.network.setCarrier(link.index, Bool.random(using: &random))
            notify(link.index, &kernel)
        case 8:
            if let gone = kernel.network.addresses.filter({ $0.interface == link.index }).randomElement(
                using: &random)
            {
                kernel.network.addresses.removeAll { $0 == gone }
                kernel.cache.apply([.addressRemoved(gone)])
            }
        case 9:
            // A port enters a bridge or leaves it.
            let bridge = kernel.network.links.first { $0.kind == "bridge" && $0.index != link.index }
            let master = Bool.random(using: &random) ? bridge?.index : nil
            kernel.network.change(link.index) { $0.master = master }
            notify(link.index, &kernel)
        case 10 where adding:
            let kinds = ["vlan", "bridge", "dummy", "vrf", nil]
            let kind = kinds.randomElement(using: &random) ?? nil
            notify(kernel.network.addLink("new\(kernel.network.links.count)", kind: kind, lower: 2), &kernel)
        case 11 where kernel.network.links.count > 6:
            kernel.network.links.removeAll { $0.index == link.index }
            kernel.network.addresses.removeAll { $0.interface == link.index }
            kernel.network.routes.removeAll { $0.interface == link.index }
            let address = InterfaceAddress(interface: link.index, address: IPAddress(v4: 1), prefixLength: 8)
            kernel.cache.apply([.addressRemoved(address), .linkRemoved(index: link.index)])
        default:
            kernel.network.wireless[link.index] = WirelessState(mode: Bool.random(using: &random) ? 2 : 3)
            kernel.cache.apply([.wirelessChanged(index: link.index)])
        }
    }

    /// Delivers the event of a changed link.
    private func notify(_ index: Int32, _ kernel: inout CachedKernel) {
        guard let link = kernel.network.links.first(where: { $0.index == index }) else { return }
        kernel.cache.apply([.linkChanged(link, isWirelessNoise: false)])
    }
}
