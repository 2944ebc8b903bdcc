// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import TestSupport
import Testing

/// Managers for one host, on a kernel and a resolver in memory.
struct HostManagerTests {
    private let reactor: Reactor
    private let kernel: FakeKernel
    private let log = EventLog<ReachabilityStatus>()
    private let addresses = ["192.0.2.77"].compactMap { ReachabilityDestination($0) }

    init() throws {
        reactor = try Reactor(name: "host-test")
        kernel = FakeKernel(.wired, reactor: reactor)
    }

    private func manager(_ host: String, on kernel: FakeKernel? = nil) -> ReachabilityManager {
        var configuration = ReachabilityConfiguration()
        configuration.timing.evaluationInterval = .zero
        configuration.timing.lossGrace = .zero
        return (kernel ?? self.kernel).manager(MonitorTarget(host), configuration)
    }

    private func settled() async { try? await reactor.result(of: {}) }

    @Test(
        "RS-086 a literal address never meets the resolver",
        arguments: ["192.0.2.77", "::1", "[2001:db8::1]", "fe80::1%eth0"])
    func literal(_ host: String) {
        let manager = manager(host)
        manager.startMonitoring()
        #expect(kernel.pendingNames == [])
        #expect(manager.status != .unknown)
        #expect(kernel.hosts.count == 1)
    }

    @Test("RS-089 no report until the name has been resolved") func unknownUntilResolved() async {
        let manager = manager("device.example")
        manager.setStatusChangeBlock { [log] in log.append($0) }
        manager.startMonitoring()
        #expect(kernel.pendingNames == ["device.example"])
        kernel.resolve(.failure(.temporary("device.example: try again")))
        await settled()
        #expect(manager.status == .unknown)
        kernel.deliver([.requested])
        await settled()
        #expect(log.elements == [])
        // After the first delay the name is resolved again; the answer leads to one report.
        #expect(await kernel.requestedNames.wait(forCount: 2).count == 2)
        #expect(log.elements == [])
        kernel.resolve(.success(addresses))
        #expect(await log.wait(forCount: 1) == [.wired])
        kernel.deliver([.requested])
        await settled()
        #expect(log.elements == [.wired])
    }

    @Test func resolvedNameIsWatched() async {
        let manager = manager("device.example")
        manager.setStatusChangeBlock { [log] in log.append($0) }
        manager.startMonitoring()
        kernel.resolve(.success(addresses))
        #expect(await log.wait(forCount: 1) == [.wired])
        #expect(kernel.hosts == addresses.map(\.address))
        #expect(manager.path.reason.code == .hostRoute, "192.0.2.77 lies on eth0's own subnet")
    }

    @Test("RS-090 a new generation resolves the name again, once") func resolvesAgain() async {
        let manager = manager("device.example")
        manager.setStatusChangeBlock { [log] in log.append($0) }
        manager.startMonitoring()
        kernel.resolve(.success(addresses))
        await log.wait(forCount: 1)
        #expect(kernel.pendingNames == [])
        kernel.change { $0.setCarrier($0.index("eth0"), false) }
        await log.wait(forCount: 2)
        kernel.change { $0.setCarrier($0.index("eth0"), true) }
        await log.wait(forCount: 3)
        await settled()
        #expect(kernel.pendingNames == ["device.example"])
    }

    @Test(
        "RS-090 other addresses are no other network: a name whose answers rotate is asked for no more often")
    func rotatingAnswers() async {
        // One address on eth0's own subnet and one behind the router: each has another path.
        let far = ["203.0.113.5"].compactMap { ReachabilityDestination($0) }
        let manager = manager("device.example")
        manager.setStatusChangeBlock { [log] in log.append($0) }
        let updates = EventLog<ReachabilityUpdate>()
        let observation = manager.observeReachability { updates.append($0) }
        defer { observation.cancel() }
        manager.startMonitoring()
        func bounce() async {
            for isUp in [false, true] {
                kernel.change { $0.setCarrier($0.index("eth0"), isUp) }
                await updates.wait { $0.last?.path.isOnline == isUp }
                await settled()
            }
        }
        kernel.resolve(.success(addresses))
        await log.wait(forCount: 1)
        await bounce()
        #expect(await log.wait(forCount: 3) == [.wired, .unreachable, .wired])
        #expect(kernel.requestedNames.elements.count == 2, "another network")
        for answer in [far, addresses, far] {
            let generation = manager.path.generation
            kernel.resolve(.success(answer))
            await updates.wait { $0.last?.path.generation == generation + 1 }
            await settled()
            #expect(manager.path.generation == generation + 1)
            #expect(kernel.pendingNames == [])
            // Another network counts as before.
            await bounce()
            #expect(kernel.pendingNames == ["device.example"])
        }
        #expect(kernel.requestedNames.elements.count == 5)
    }

    @Test func withoutAWayOutAnUnresolvedNameIsUnreachable() async throws {
        // A time that stands still: no back-off passes, and no evaluation counts as slow.
        let reactor = try ManualTime().makeReactor(name: "host-test")
        let kernel = FakeKernel(.wired, reactor: reactor)
        kernel.changeSilently { $0.setCarrier($0.index("eth0"), false) }
        let manager = manager("device.example", on: kernel)
        manager.setStatusChangeBlock { [log] in log.append($0) }
        manager.startMonitoring()
        kernel.resolve(.failure(.temporary("device.example: try again")))
        #expect(await log.wait(forCount: 1) == [.unreachable])
        #expect(manager.path.reason.sentence == "cannot resolve device.example: eth0: no carrier")
        // The general path has returned: the name is resolved at once, not after the back-off.
        kernel.change { $0.setCarrier($0.index("eth0"), true) }
        try await reactor.result(of: {})
        #expect(kernel.pendingNames == ["device.example"])
        kernel.resolve(.success(addresses))
        #expect(await log.wait(forCount: 2) == [.unreachable, .wired])
    }

    @Test func nameThatDoesNotExistIsUnreachable() async {
        let manager = manager("nowhere.example")
        manager.setStatusChangeBlock { [log] in log.append($0) }
        manager.startMonitoring()
        kernel.resolve(.failure(.noSuchName("nowhere.example: Name or service not known")))
        #expect(await log.wait(forCount: 1) == [.unreachable])
        #expect(manager.path.reason.code == .unresolved)
    }

    @Test func systemResolverKnowsLocalhost() {
        guard case .success(let found) = SystemResolver.addresses(of: "localhost") else {
            Issue.record("localhost is in every /etc/hosts")
            return
        }
        #expect(found.contains { $0.address.isLoopback })
        guard case .failure = SystemResolver.addresses(of: "no such name") else {
            Issue.record("a name with blanks cannot exist")
            return
        }
    }
}
