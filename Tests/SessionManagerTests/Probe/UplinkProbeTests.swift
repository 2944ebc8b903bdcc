// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Foundation
import Reachability
import ReachabilityCore
import SessionCore
import SessionManager
import Synchronization
import TestSupport
import Testing

/// A network with links that a test sets; the preferred one is only a name, since it is asked unbound.
private final class Uplinks: ReachabilityProvider {
    private struct State {
        var update: ReachabilityUpdate
        var observers: [@Sendable (ReachabilityUpdate) -> Void] = []
    }

    private let state: Mutex<State>

    /// - Parameter cost: what the links beside the preferred one cost.
    init(_ names: String..., generation: UInt64 = 1, cost: NetworkCost = NetworkCost(.guessNo)) {
        state = Mutex(State(update: Self.update(names, .initial, generation, cost)))
    }

    func currentReachability() -> (status: ReachabilityStatus, path: ReachabilityPath) {
        state.withLock { ($0.update.status, $0.update.path) }
    }

    func observeReachability(
        _ observer: @escaping @Sendable (ReachabilityUpdate) -> Void
    ) -> ReachabilityObservation {
        state.withLock { state in
            state.observers.append(observer)
            observer(state.update)
        }
        return ReachabilityObservation { [weak self] in self?.state.withLock { $0.observers = [] } }
    }

    /// The links with a path of their own now, the preferred one first.
    func change(
        to names: String..., generation: UInt64 = 1, cost: NetworkCost = NetworkCost(.guessNo)
    ) {
        state.withLock { state in
            state.update = Self.update(names, .path, generation, cost)
            for observer in state.observers { observer(state.update) }
        }
    }

    private static func update(
        _ names: [String], _ event: ReachabilityUpdate.Event, _ generation: UInt64,
        _ cost: NetworkCost
    ) -> ReachabilityUpdate {
        let links = names.map { name in
            LinkReport(
                name: name, index: name == "main" ? 1 : 2, medium: .ethernet, isOnline: true,
                reason: ReachabilityReason(.defaultRoute, interface: name, sentence: "a route"),
                cost: name == "main" ? NetworkCost(.guessNo) : cost)
        }
        let path = ReachabilityPath(status: .wired, interface: names.first, generation: generation)
        return ReachabilityUpdate(event: event, status: .wired, previous: nil, path: path, links: links)
    }
}

/// Probes over two uplinks: "main" by the kernel's choice, and `lo` bound to it.
struct UplinkProbeTests {
    private let origin: TestSupport.Origin
    init() async throws { origin = try await TestSupport.Origin.shared }

    private func probe(
        _ path: String, _ provider: Uplinks, root: String = "", portalRequest: Duration = .seconds(60)
    ) throws -> InternetProbe {
        var session = SessionConfiguration()
        session.hostAddresses = origin.resolveEntries
        session.proxy = ""
        var configuration = InternetProbeConfiguration(
            try SessionRequest(origin.url(path, at: .http)).url,
            expectation: InternetExpectation(statusCodes: [204...204]))
        // A machine that is busy elsewhere is no network that is silent.
        configuration.timeout = .seconds(3600)
        configuration.longestPortalTimeout = portalRequest
        configuration.firstPause = .milliseconds(20)
        configuration.longestPause = .milliseconds(20)
        configuration.systemRoot = root
        var policy = SecurityPolicy.default
        policy.trustRoots = .only(.file(origin.pem(.root)))
        return try InternetProbe(
            configuration, provider: provider, session: session, securityPolicy: policy)
    }

    /// A folder with what systemd-networkd says of "main": the address of the network's own word.
    private func files(_ address: String, mode: mode_t = 0o644) throws -> ScratchFolder {
        let root = try ScratchFolder("reach-portal")
        try FileManager.default.createDirectory(
            atPath: root("run/systemd/netif/links"), withIntermediateDirectories: true)
        try "# This is private data. Do not parse.\nDNS=192.0.2.1\nCAPTIVE_PORTAL=\(address)\n".write(
            toFile: root("run/systemd/netif/links/1"), atomically: true, encoding: .utf8)
        chmod(root("run/systemd/netif/links/1"), mode)
        return root
    }

    /// A network's own word, as it has to be but for what is given; `spaces` make it longer.
    private func word(
        _ key: String, type: String = "application/captive%2Bjson", status: Int = 200, spaces: Int = 0,
        at server: OriginListener = .https
    ) -> String {
        let json = "%7B%22captive%22:true,%22user-portal-url%22:%22https://portal.example.com/hello%22%7D"
        return origin.url(
            "/body?key=\(key)&type=\(type)&status=\(status)&spaces=\(spaces)&text=\(json)", at: server)
    }

    @Test(
        "UPL-280 the network is asked for the address to sign in where DHCP has told its address, and only there",
        .timeLimit(.minutes(10)))
    func networkOwnWord() async throws {
        let root = try files(word("uplink-word"))
        let target = "http://portal.example.com/login"
        let probe = try probe(
            "/redirect-to?url=\(target)&code=302", Uplinks("main", "lo"), root: root.path)
        probe.start()
        let found = await uplinks(of: probe, where: known)
        #expect(found.map(\.state) == [.portal, .portal])
        let addresses = found.map { $0.portalURL?.absoluteString }
        #expect(addresses == ["https://portal.example.com/hello", target])
        #expect(try await origin.count("uplink-word") >= 1)
        // Where the server answers as it should, nothing else is asked.
        let quiet = try files(word("uplink-quiet"))
        let full = try self.probe("/status/204", Uplinks("main", "lo"), root: quiet.path)
        full.start()
        #expect(await uplinks(of: full, where: known).map(\.state) == [.full, .full])
        #expect(try await origin.count("uplink-quiet") == 0)
    }

    @Test(
        "UPL-353 a network's address in a file that others may write is not asked", .timeLimit(.minutes(10)),
        arguments: [0o664, 0o646] as [mode_t])
    func openFile(mode: mode_t) async throws {
        let root = try files(word("uplink-open"), mode: mode)
        let target = "http://portal.example.com/login"
        let probe = try probe("/redirect-to?url=\(target)&code=302", Uplinks("main"), root: root.path)
        probe.start()
        let found = await uplinks(of: probe, where: known)
        #expect(found.map { $0.portalURL?.absoluteString } == [target])
        #expect(try await origin.count("uplink-open") == 0)
    }

    @Test(
        "UPL-281 a network whose word does not come, or is another, leaves what was found",
        .timeLimit(.minutes(10)), arguments: ["refused", "long", "html", "error", "plain"])
    func noWord(kind: String) async throws {
        let key = "uplink-no-word-\(kind)"
        let address =
            switch kind {
            case "refused": "https://127.0.0.1:\(origin.port(.refused))/"
            case "long": word(key, spaces: 17 << 10)
            case "html": word(key, type: "text/html")
            case "error": word(key, status: 500)
            default: word(key, at: .http)
            }
        let target = "http://portal.example.com/login"
        let root = try files(address)
        for (path, state) in [
            ("/redirect-to?url=\(target)&code=302", InternetState.portal), ("/status/500", .limited),
        ] {
            let probe = try probe(path, Uplinks("main"), root: root.path)
            probe.start()
            let found = await uplinks(of: probe, where: known)
            #expect(found.map(\.state) == [state])
            #expect(found.first?.portalURL?.absoluteString == (state == .portal ? target : nil))
            let reason = found.first?.reason
            #expect(reason == "redirected to \(target)" || reason?.hasPrefix("500 from http://") == true)
        }
        let asked = try await origin.count(key)
        // Each probe asks again and again.
        #expect(kind == "refused" || kind == "plain" ? asked == 0 : asked >= 2)
    }

    @Test(
        "UPL-404 where the kernel binds no socket, an uplink is not asked, instead of another one in its place",
        .timeLimit(.minutes(10)))
    func bindingRefused() async throws {
        var session = SessionConfiguration()
        session.hostAddresses = origin.resolveEntries
        session.proxy = ""
        let configuration = InternetProbeConfiguration(
            try SessionRequest(origin.url("/status/204?key=uplink-refused", at: .http)).url)
        let probe = InternetProbe(
            configuration, provider: Uplinks("main", "lo"), session: session, on: try Reactor.shared,
            isBindingRefused: { $0 == "lo" })
        probe.start()
        let found = await uplinks(of: probe) { $0.first?.state == .full && $0.last?.reason.isEmpty == false }
        #expect(found.map(\.state) == [.full, .unknown])
        #expect(
            found.last?.reason
                == "not asked: this kernel binds no socket to an interface without privileges")
        #expect(try await origin.count("uplink-refused") == 1)
    }

    @Test(
        "UPL-405 a network's own word is waited for a short while, not as long as the server's answer",
        .timeLimit(.minutes(10)), arguments: ["/hold/uplink-never", "/drip?n=16000&ms=50"])
    func slowWord(path: String) async throws {
        let target = "http://portal.example.com/login"
        let root = try files(origin.url(path, at: .https))
        let probe = try probe(
            "/redirect-to?url=\(target)&code=302", Uplinks("main"), root: root.path,
            portalRequest: .seconds(1))
        probe.start()
        let found = await uplinks(of: probe, where: known)
        #expect(found.map(\.reason) == ["redirected to \(target)"])
        try await origin.release("uplink-never")
    }

    /// The first uplinks that satisfy a condition.
    private func uplinks(
        of probe: InternetProbe, where condition: ([UplinkInternet]) -> Bool
    ) async -> [UplinkInternet] {
        for await uplinks in probe.uplinkChanges where condition(uplinks) { return uplinks }
        return []
    }

    private func known(_ uplinks: [UplinkInternet]) -> Bool {
        !uplinks.isEmpty && uplinks.allSatisfy { $0.state != .unknown }
    }

    @Test("UPL-080 each uplink is asked, and told with its evidence", .timeLimit(.minutes(10)))
    func each() async throws {
        let probe = try probe("/status/204?key=uplink-each", Uplinks("main", "lo"))
        #expect(probe.uplinks.isEmpty)
        #expect(try await origin.count("uplink-each") == 0)
        let before = Date()
        probe.start()
        let found = await uplinks(of: probe, where: known)
        #expect(found.map(\.interface) == ["main", "lo"])
        #expect(found.map(\.isPreferred) == [true, false])
        #expect(found.map(\.state) == [.full, .full])
        #expect(found.allSatisfy { $0.reason.hasPrefix("204 from http://") && $0.portalURL == nil })
        #expect(
            found.allSatisfy {
                $0.since > before.addingTimeInterval(-1) && $0.since < Date().addingTimeInterval(1)
            })
        #expect(probe.state == .full)
        #expect(try await origin.count("uplink-each") == 2)
        probe.stop()
        _ = await uplinks(of: probe) { $0.isEmpty }
        #expect(probe.state == .unknown)
    }

    @Test(
        "UPL-238 an uplink that costs, by roaming too, is not asked until it does not",
        .timeLimit(.minutes(10)), arguments: [NetworkCost(.guessYes), NetworkCost(.unknown, isRoaming: true)])
    func costly(_ cost: NetworkCost) async throws {
        let network = Uplinks("main", "lo", cost: cost)
        let probe = try probe("/status/204?key=uplink-costly-\(cost.metered)", network)
        probe.start()
        let found = await uplinks(of: probe) { $0.count == 2 && $0[0].state == .full }
        #expect(found.last?.state == .unknown && found.last?.reason == "not asked: its traffic costs")
        network.change(to: "main", "lo")
        #expect(await uplinks(of: probe, where: known).map(\.state) == [.full, .full])
        #expect(try await origin.count("uplink-costly-\(cost.metered)") == 2)
    }

    @Test("UPL-081 a portal's address to sign in is told", .timeLimit(.minutes(10)))
    func portal() async throws {
        let target = "http://portal.example.com/login"
        let probe = try probe("/redirect-to?url=\(target)&code=302", Uplinks("main", "lo"))
        probe.start()
        let found = await uplinks(of: probe, where: known)
        #expect(found.map(\.state) == [.portal, .portal])
        #expect(found.allSatisfy { $0.portalURL?.absoluteString == target })
        #expect(found.allSatisfy { $0.reason == "redirected to \(target)" })
        #expect(probe.portalURL?.absoluteString == target)
    }

    @Test(
        "UPL-082 an uplink that cannot be used is limited, and the other one is not", .timeLimit(.minutes(10))
    )
    func broken() async throws {
        let probe = try probe("/status/204", Uplinks("main", "absent0"))
        probe.start()
        let found = await uplinks(of: probe, where: known)
        #expect(found.map(\.state) == [.full, .limited])
        #expect(found.last?.reason.isEmpty == false)
        #expect(probe.state == .full)
    }

    @Test(
        "UPL-083 uplinks that come and go are told; the state is that of the preferred one",
        .timeLimit(.minutes(10)))
    func comingAndGoing() async throws {
        let network = Uplinks("main")
        let probe = try probe("/status/204?key=uplink-coming", network)
        probe.start()
        #expect(await uplinks(of: probe, where: known).map(\.interface) == ["main"])
        network.change(to: "main", "lo")
        #expect(await uplinks(of: probe) { $0.count == 2 && known($0) }.map(\.state) == [.full, .full])
        #expect(try await origin.count("uplink-coming") == 2)
        // The kernel turns to the other one: nothing that was known is forgotten.
        let states = Diary<InternetState>()
        let observation = probe.observeInternet(queue: .custom { $0() }) { states.record($0) }
        network.change(to: "lo", "main", generation: 2)
        let turned = await uplinks(of: probe) { $0.first?.interface == "lo" }
        #expect(turned.map(\.isPreferred) == [true, false])
        #expect(turned.map(\.state) == [.full, .full])
        #expect(states.all == [.full])
        observation.cancel()
        // Bound to a link that does not exist, the former one reaches nothing.
        try await origin.wait(for: "uplink-coming", [.count: 3])
        network.change(to: "main", generation: 3)
        try await origin.wait(for: "uplink-coming", [.count: 4])
        #expect(await uplinks(of: probe) { $0.count == 1 }.map(\.interface) == ["main"])
    }

    @Test(
        "UPL-084 observers of the states and of the uplinks hear of changes alone", .timeLimit(.minutes(10)))
    func observers() async throws {
        let probe = try probe("/retry-after?key=uplink-observers&times=6&status=511", Uplinks("main", "lo"))
        let states = Diary<InternetState>()
        let lists = Diary<[InternetState]>()
        let observations = [
            probe.observeInternet(queue: .custom { $0() }) { states.record($0) },
            probe.observeUplinks(queue: .custom { $0() }) { lists.record($0.map(\.state)) },
        ]
        probe.start()
        // What is expected is 204, so that 200 is a portal as well.
        try await origin.wait(for: "uplink-observers", [.count: 12])
        #expect(states.all == [.unknown, .portal])
        #expect(lists.all.first == [] && lists.all.last == [.portal, .portal])
        #expect(lists.all.count == Set(lists.all).count)
        for observation in observations { observation.cancel() }
    }
}
