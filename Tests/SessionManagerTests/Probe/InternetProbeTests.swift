// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import SessionCore
import SessionManager
import Synchronization
import TestSupport
import Testing

/// Paths as a test wants them.
private final class Paths: ReachabilityProvider {
    private struct State {
        var path: ReachabilityPath
        var observers: [@Sendable (ReachabilityUpdate) -> Void] = []
    }

    private let state: Mutex<State>

    init(_ status: ReachabilityStatus) { state = Mutex(State(path: ReachabilityPath(status: status))) }

    func currentReachability() -> (status: ReachabilityStatus, path: ReachabilityPath) {
        state.withLock { ($0.path.instantStatus, $0.path) }
    }

    func observeReachability(
        _ observer: @escaping @Sendable (ReachabilityUpdate) -> Void
    ) -> ReachabilityObservation {
        state.withLock { state in
            state.observers.append(observer)
            observer(Self.update(state.path, .initial))
        }
        return ReachabilityObservation { [weak self] in self?.state.withLock { $0.observers = [] } }
    }

    func change(to status: ReachabilityStatus, _ generation: UInt64) {
        state.withLock { state in
            state.path = ReachabilityPath(status: status, generation: generation)
            for observer in state.observers { observer(Self.update(state.path, .status)) }
        }
    }

    var isWatched: Bool { state.withLock { !$0.observers.isEmpty } }

    private static func update(_ path: ReachabilityPath, _ event: ReachabilityUpdate.Event)
        -> ReachabilityUpdate
    {
        ReachabilityUpdate(event: event, status: path.instantStatus, previous: nil, path: path)
    }
}

struct InternetProbeTests {
    private let origin: TestSupport.Origin
    init() async throws { origin = try await TestSupport.Origin.shared }

    private func probe(
        _ path: String, at listener: OriginListener = .http, _ expectation: InternetExpectation,
        provider: Paths? = nil, _ change: (inout InternetProbeConfiguration) -> Void = { _ in }
    ) throws -> InternetProbe {
        var session = SessionConfiguration()
        session.hostAddresses = origin.resolveEntries
        session.proxy = ""
        var configuration = InternetProbeConfiguration(
            try SessionRequest(origin.url(path, at: listener)).url, expectation: expectation)
        // A machine that is busy elsewhere is no network that is silent.
        configuration.timeout = .seconds(60)
        configuration.longestPause = .milliseconds(20)
        configuration.firstPause = .milliseconds(20)
        change(&configuration)
        var policy = SecurityPolicy.default
        policy.trustRoots = .only(.file(origin.pem(.root)))
        return try InternetProbe(configuration, provider: provider, session: session, securityPolicy: policy)
    }

    /// The first state that is known.
    private func first(_ probe: InternetProbe, otherThan known: InternetState = .unknown) async
        -> InternetState?
    {
        for await state in probe.states where state != known && state != .unknown { return state }
        return nil
    }

    private static let none = InternetExpectation(statusCodes: [204...204])
    private static let text = InternetExpectation(body: "reach ")

    @Test("the states end when the probe has gone", .timeLimit(.minutes(10)))
    func end() async throws {
        let states: Task<[InternetState], Never>
        do {
            let probe = try self.probe("/status/204", Self.none)
            let sequence = probe.states
            states = Task { await sequence.reduce(into: []) { $0.append($1) } }
            probe.start()
            #expect(await first(probe) == .full)
        }
        #expect(await states.value.first != nil)
    }

    @Test(
        "what each kind of network looks like",
        arguments: [
            ("/status/204", OriginListener.http, none, InternetState.full),
            ("/status/204", .https, none, .full),
            ("/body?text=reach%20here", .http, text, .full),
            ("/redirect-to?url=/status/204&code=302", .http, none, .portal),
            ("/html", .http, none, .portal), ("/html", .http, text, .portal),
            ("/file/1m", .http, text, .portal),
            ("/status/511", .http, none, .portal), ("/status/204", .otherAuthority, none, .portal),
            ("/status/503", .http, none, .limited), ("/status/204", .refused, none, .limited),
            ("/status/204", .expired, none, .limited), ("/status/204", .blackhole, none, .limited),
            ("/status/204", .silent, none, .limited),
        ])
    func kinds(
        _ path: String, _ listener: OriginListener, _ expectation: InternetExpectation, _ state: InternetState
    ) async throws {
        let probe = try probe(path, at: listener, expectation) {
            if listener == .blackhole || listener == .silent { $0.timeout = .milliseconds(300) }
        }
        #expect(probe.state == .unknown)
        probe.start()
        #expect(await first(probe) == state)
        #expect(probe.state == state)
    }

    @Test("a redirect is not followed, and nothing is asked before the start or after the stop")
    func questions() async throws {
        let target = origin.url("/status/204?key=probe-target")
        let probe = try probe("/redirect-to?key=probe-asked&url=\(target)", at: .direct, Self.none)
        #expect(try await origin.count("probe-asked") == 0)
        probe.start()
        probe.start()
        #expect(await first(probe) == .portal)
        // Again and again, each time over a connection of its own.
        let statistics = try await origin.wait(for: "probe-asked", [.count: 3])
        #expect(statistics.connections >= 3)
        #expect(try await origin.count("probe-target") == 0)
        probe.stop()
        for await state in probe.states where state == .unknown { break }
        #expect(probe.state == .unknown)
    }

    @Test("the sign-in is over: portal, then full, and then it is left in peace")
    func signIn() async throws {
        let probe = try probe(
            "/retry-after?key=probe-sign-in&times=2&status=511", InternetExpectation(statusCodes: [200...200])
        )
        let seen = Diary<InternetState>()
        let observation = probe.observeInternet(queue: .custom { $0() }) { seen.record($0) }
        probe.start()
        #expect(await first(probe, otherThan: .portal) == .full)
        #expect(seen.all == [.unknown, .portal, .full])
        #expect(try await origin.count("probe-sign-in") == 3)
        probe.check()
        try await origin.wait(for: "probe-sign-in", [.count: 4])
        observation.cancel()
    }

    @Test("without a path nothing is asked; each new path is asked about at once")
    func paths() async throws {
        let paths = Paths(.unreachable)
        let probe = try probe("/status/204?key=probe-paths", Self.none, provider: paths)
        probe.start()
        #expect(await first(probe) == InternetState.none)
        #expect(try await origin.count("probe-paths") == 0)
        paths.change(to: .wired, 2)
        #expect(await first(probe, otherThan: .none) == .full)
        paths.change(to: .wifi, 3)
        try await origin.wait(for: "probe-paths", [.count: 2])
        paths.change(to: .unreachable, 4)
        #expect(await first(probe, otherThan: .full) == InternetState.none)
        probe.stop()
        for await state in probe.states where state == .unknown { break }
        #expect(!paths.isWatched)
    }

    @Test("a probe that is let go of leaves its provider")
    func release() async throws {
        let paths = Paths(.wired)
        do {
            let probe = try probe("/status/204", Self.none, provider: paths)
            probe.start()
            #expect(await first(probe) == .full)
            #expect(paths.isWatched)
        }
        while paths.isWatched { await Task.yield() }
    }
}
