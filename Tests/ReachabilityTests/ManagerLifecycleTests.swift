// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import Synchronization
import TestSupport
import Testing

/// Starting and stopping the manager on any thread, and failures of both.
struct ManagerLifecycleTests {
    private let lab: ManagerLab
    private let log = EventLog<ReachabilityStatus>()

    init() throws { lab = try ManagerLab() }

    @Test func startingTwiceReportsOnce() async {
        let manager = lab.manager()
        manager.setStatusChangeBlock { [log] in log.append($0) }
        manager.startMonitoring()
        manager.startMonitoring()
        lab.unplug()
        #expect(await log.wait(forCount: 2) == [.wired, .unreachable])
    }

    @Test func nothingIsCalledAfterStopAndARestartReportsAfresh() async {
        let manager = lab.manager()
        manager.setStatusChangeBlock { [log] in log.append($0) }
        manager.startMonitoring()
        await log.wait(forCount: 1)
        manager.stopMonitoring()
        #expect(manager.status == .unknown)
        #expect(manager.path.reason.code == .notMonitoring)
        #expect(!lab.kernel.isListening)
        lab.unplug()
        manager.startMonitoring()
        #expect(await log.wait(forCount: 2) == [.wired, .unreachable])
    }

    @Test func stopWaitsForTheBlockUnderWay() async {
        let manager = lab.manager()
        let gate = EventLog<Bool>()
        let running = Mutex(false)
        manager.setStatusChangeBlock { _ in
            running.withLock { $0 = true }
            gate.append(true)
            // Long enough for a stop that does not wait to return meanwhile.
            for _ in 0..<200_000 where !running.withLock({ $0 }) { return }
            running.withLock { $0 = false }
        }
        manager.startMonitoring()
        await gate.wait(forCount: 1)
        manager.stopMonitoring()
        #expect(running.withLock { $0 } == false)
    }

    @Test("without a loop nothing is watched, and the next start tries again")
    func startsAgainAfterAFailure() async {
        let hasDescriptors = Mutex(false)
        var environment = lab.kernel.environment
        environment.reactor = { [reactor = lab.reactor] () throws(ReachabilityError) -> Reactor in
            if hasDescriptors.withLock({ $0 }) { return reactor }
            throw ReachabilityError(.outOfResources, errno: 24, context: "no descriptor left", advice: "")
        }
        let manager = ReachabilityManager(.general, .init(), .own, environment)
        manager.setStatusChangeBlock { [log] in log.append($0) }
        manager.startMonitoring()
        #expect(await log.wait(forCount: 1) == [.unknown])
        #expect(!manager.isMonitoring)
        #expect(manager.failure?.code == .outOfResources)
        #expect(manager.path.reason.sentence == "no descriptor left")
        hasDescriptors.withLock { $0 = true }
        manager.startMonitoring()
        #expect(manager.status == .wired)
        #expect(manager.failure == nil)
        #expect(await log.wait(forCount: 2) == [.unknown, .wired])
    }

    @Test("a stop while another thread is starting ends that start")
    func stopWhileStarting() async {
        let manager = Mutex<ReachabilityManager?>(nil)
        let hasStopped = Mutex(false)
        var environment = lab.kernel.environment
        environment.reactor = { [reactor = lab.reactor] in
            // Simulates another thread in between.
            if !hasStopped.withLock({ stopped in
                defer { stopped = true }
                return stopped
            }) {
                manager.withLock { $0 }?.stopMonitoring()
            }
            return reactor
        }
        let made = ReachabilityManager(.general, .init(), .own, environment)
        manager.withLock { $0 = made }
        made.startMonitoring()
        await lab.settled()
        #expect(!made.isMonitoring)
        #expect(made.status == .unknown)
        #expect(!lab.kernel.isListening)
        made.startMonitoring()
        #expect(made.status == .wired)
        made.stopMonitoring()
        #expect(!lab.kernel.isListening)
        manager.withLock { $0 = nil }
    }

    @Test("a monitor that was stopped before its start comes up never starts")
    func stopBeforeStart() {
        let monitor = MonitorHandle(
            target: .general, configuration: .init(), environment: lab.kernel.environment,
            reactor: lab.reactor,
            delegate: MonitorDelegate(publish: { _ in }, refresh: { _ in }, record: { _, _, _ in }))
        monitor.stop()
        monitor.startAndWait()
        #expect(!lab.kernel.isListening)
        monitor.stop()
    }
}

/// A manager on a kernel in memory, without grace.
struct ManagerLab {
    let reactor: Reactor
    let kernel: FakeKernel

    init() throws {
        reactor = try Reactor(name: "manager-test")
        kernel = FakeKernel(.wired, reactor: reactor)
    }

    func manager(_ target: MonitorTarget = .general) -> ReachabilityManager {
        var configuration = ReachabilityConfiguration()
        configuration.timing.evaluationInterval = .zero
        configuration.timing.lossGrace = .zero
        return kernel.manager(target, configuration)
    }

    func unplug() { kernel.change { $0.setCarrier($0.index("eth0"), false) } }
    func plug() { kernel.change { $0.setCarrier($0.index("eth0"), true) } }

    /// Returns when the loop has processed everything so far, followed by an evaluation.
    func settled() async {
        kernel.deliver([.requested])
        try? await reactor.result(of: {})
    }
}
