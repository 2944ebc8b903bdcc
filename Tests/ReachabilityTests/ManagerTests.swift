// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import Synchronization
import TestSupport
import Testing

/// The manager on a kernel in memory: its updates, their order and their thread.
struct ManagerTests {
    private let lab: ManagerLab
    private let log = EventLog<ReachabilityStatus>()

    init() throws { lab = try ManagerLab() }

    @Test func statusIsKnownWhenStartReturns() {
        let manager = lab.manager()
        #expect(manager.status == .unknown)
        #expect(!manager.isReachable && !manager.isMonitoring)
        manager.startMonitoring()
        #expect(manager.isMonitoring)
        #expect(manager.status == .wired)
        #expect(manager.isReachable && manager.isReachableViaWired && !manager.isReachableViaWiFi)
        #expect(manager.path.interface == "eth0")
        #expect(manager.localizedStatusString() == "Reachable via Wired")
        #expect(manager.localizedStatusString { _ in "Kabel" } == "Kabel")
    }

    @Test func blockIsCalledOnceAndThenOnlyWithAnotherStatus() async {
        let manager = lab.manager()
        manager.setStatusChangeBlock { [log] in log.append($0) }
        manager.startMonitoring()
        await log.wait(forCount: 1)
        lab.kernel.change { $0.addRoute("0.0.0.0/0", via: "192.0.2.9", on: $0.index("eth0"), metric: 5) }
        lab.unplug()
        #expect(await log.wait(forCount: 2) == [.wired, .unreachable])
        lab.plug()
        #expect(await log.wait(forCount: 3) == [.wired, .unreachable, .wired])
    }

    @Test func blockSetLateGetsThePresentStatus() async {
        let manager = lab.manager()
        manager.startMonitoring()
        manager.setStatusChangeBlock { [log] in log.append($0) }
        #expect(await log.wait(forCount: 1) == [.wired])
    }

    @Test func newBlockReplacesTheOldOne() async {
        let manager = lab.manager()
        let old = EventLog<ReachabilityStatus>()
        manager.setStatusChangeBlock { old.append($0) }
        manager.startMonitoring()
        await old.wait(forCount: 1)
        manager.setStatusChangeBlock { [log] in log.append($0) }
        lab.unplug()
        #expect(await log.wait(forCount: 2) == [.wired, .unreachable])
        #expect(old.elements == [.wired])
        manager.setStatusChangeBlock(nil)
        lab.plug()
        await lab.settled()
        #expect(log.elements == [.wired, .unreachable])
    }

    @Test("RS-008 a subscriber removes itself inside its callback") func removesItself() async {
        let manager = lab.manager()
        let holder = Mutex<ReachabilityObservation?>(nil)
        let calls = EventLog<ReachabilityUpdate.Event>()
        let observation = manager.observeReachability { update in
            holder.withLock { $0 }?.cancel()
            calls.append(update.event)
        }
        holder.withLock { $0 = observation }
        let other = manager.observeReachability { [log] in log.append($0.status) }
        manager.startMonitoring()
        await calls.wait(forCount: 1)
        lab.unplug()
        await log.wait(forCount: 2)
        #expect(calls.elements == [.initial])
        other.cancel()
    }

    @Test("RS-009 a callback calls start, stop and status") func callsBack() async {
        let manager = lab.manager()
        let calls = EventLog<ReachabilityStatus>()
        manager.setStatusChangeBlock { [weak manager] status in
            guard let manager else { return }
            let seen = manager.status
            manager.startMonitoring()  // runs already: nothing happens
            if calls.elements.isEmpty {
                manager.stopMonitoring()
                manager.startMonitoring()
            }
            calls.append(seen == status ? status : .unknown)
        }
        manager.startMonitoring()
        #expect(await calls.wait(forCount: 2) == [.wired, .wired])
        lab.unplug()
        #expect(await calls.wait(forCount: 3) == [.wired, .wired, .unreachable])
    }

    @Test("FLD-099 a route that the kernel removes after its event is noticed without another event")
    func routeGoesAfterItsEvent() async throws {
        let everything = try #require(IPPrefix("0.0.0.0/0"))
        let manager = lab.manager()
        manager.setStatusChangeBlock { [log] in log.append($0) }
        manager.startMonitoring()
        await log.wait(forCount: 1)
        lab.kernel.deliver([.routeRemoved(everything, through: 2)])
        try await lab.reactor.result(of: {})
        #expect(manager.status == .wired)
        lab.kernel.changeSilently { $0.removeRoutes("0.0.0.0/0") }
        #expect(await log.wait(forCount: 2) == [.wired, .unreachable])
    }

    @Test("RS-010 a route added between joining the groups and the first look") func raceAtStart() async {
        lab.kernel.changeSilently { $0.removeRoutes("0.0.0.0/0") }
        lab.kernel.whenOpened { kernel in
            kernel.change { $0.addRoute("0.0.0.0/0", via: "192.0.2.1", on: $0.index("eth0")) }
        }
        let manager = lab.manager()
        manager.setStatusChangeBlock { [log] in log.append($0) }
        manager.startMonitoring()
        await lab.settled()
        lab.unplug()
        #expect(await log.wait(forCount: 2) == [.wired, .unreachable])
    }

    @Test("RB-19 a blocked observer delays no other, and gets the newest") func blockedObserver() async {
        let manager = lab.manager()
        let (entered, leave) = (EventLog<Bool>(), ConditionLock(false))
        manager.setStatusChangeBlock { [log] status in
            entered.append(true)
            leave.wait { $0 }
            log.append(status)
        }
        manager.startMonitoring()
        await entered.wait(forCount: 1)
        for _ in 0..<200 {
            lab.unplug()
            lab.plug()
        }
        lab.unplug()
        await lab.settled()
        #expect(manager.status == .unreachable, "the loop goes on")
        leave.withLock { $0 = true }
        let seen = await log.wait { $0.last == .unreachable }
        #expect(seen.last == .unreachable)
        #expect(seen.count <= 66)
    }

    @Test("RB-19 a blocked block gets the newest status, however many paths came after it")
    func blockedBlockBehindPaths() async {
        var configuration = ReachabilityConfiguration()
        configuration.timing.evaluationInterval = .zero
        configuration.timing.lossGrace = .seconds(3600)
        lab.kernel.changeSilently { $0.removeRoutes("0.0.0.0/0") }
        let manager = lab.kernel.manager(.general, configuration)
        let (entered, leave) = (EventLog<Bool>(), ConditionLock(false))
        manager.setStatusChangeBlock { [log] status in
            entered.append(true)
            leave.wait { $0 }
            log.append(status)
        }
        manager.startMonitoring()
        await entered.wait(forCount: 1)
        lab.kernel.change { $0.addRoute("0.0.0.0/0", via: "192.0.2.1", on: $0.index("eth0")) }
        await lab.settled()
        for _ in 0..<40 {
            // Evaluated one at a time, so that each leads to an update.
            lab.unplug()
            await lab.settled()
            lab.plug()
            await lab.settled()
        }
        #expect(manager.status == .wired)
        leave.withLock { $0 = true }
        #expect(await log.wait(forCount: 2) == [.unreachable, .wired])
        let more = EventLog<ReachabilityStatus>()
        let late = manager.observeReachability { more.append($0.status) }
        await more.wait(forCount: 1)
        #expect(log.elements == [.unreachable, .wired])
        late.cancel()
    }

    @Test("RB-01 an evaluation after lost events is counted, one without a reason is not")
    func resyncs() async {
        var configuration = ReachabilityConfiguration()
        configuration.timing.lossGrace = .zero
        configuration.timing.safetyInterval = .milliseconds(1)
        let manager = lab.kernel.manager(.general, configuration)
        manager.setStatusChangeBlock { [log] in log.append($0) }
        manager.startMonitoring()
        lab.kernel.changeSilently { $0.removeRoutes("0.0.0.0/0") }
        #expect(await log.wait(forCount: 2) == [.wired, .unreachable])
        await lab.settled()
        #expect(manager.counters.resyncs == 0)
        lab.kernel.deliver([.overrun])
        await lab.settled()
        #expect(manager.counters.overruns == 1)
        #expect(manager.counters.resyncs == 1)
    }

    @Test func anyNumberOfObserversInOrder() async {
        let manager = lab.manager()
        let logs = (0..<20).map { _ in EventLog<ReachabilityUpdate>() }
        let observations = logs.map { log in manager.observeReachability { log.append($0) } }
        manager.startMonitoring()
        for log in logs { await log.wait(forCount: 1) }
        lab.unplug()
        for log in logs { await log.wait(forCount: 2) }
        lab.plug()
        for log in logs {
            let seen = await log.wait(forCount: 3)
            #expect(seen.map(\.event) == [.initial, .status, .status])
            #expect(seen.map(\.previous) == [nil, .wired, .unreachable])
        }
        for observation in observations { observation.cancel() }
    }

    @Test func sequencesKeepTheNewest() async {
        let manager = lab.manager()
        manager.startMonitoring()
        let statuses = manager.statuses
        var iterator = statuses.makeAsyncIterator()
        #expect(await iterator.next() == .wired)
        lab.unplug()
        lab.plug()
        lab.unplug()
        await lab.settled()
        #expect(await iterator.next() == .unreachable)
        lab.plug()
        #expect(await iterator.next() == .wired)
    }

    @Test func sequencesEndWithTheManager() async {
        var manager: ReachabilityManager? = lab.manager()
        manager?.startMonitoring()
        let updates = manager?.pathUpdates
        manager = nil
        var count = 0
        if let updates { for await _ in updates { count += 1 } }
        #expect(count <= 1)
        #expect(!lab.kernel.isListening)
    }

    @Test func worksAsAnyProvider() async {
        let provider: any ReachabilityProvider = lab.manager()
        (provider as? ReachabilityManager)?.startMonitoring()
        #expect(provider.currentReachability().status == .wired)
        let observation = provider.observeReachability({ [log] in log.append($0.status) })
        #expect(await log.wait(forCount: 1) == [.wired])
        observation.cancel()
    }

    @Test("RS-129 a request that failed has the kernel asked at once") func reevaluates() async {
        let manager = lab.manager()
        manager.setStatusChangeBlock { [log] in log.append($0) }
        manager.startMonitoring()
        await log.wait(forCount: 1)
        lab.kernel.changeSilently { $0.removeRoutes("0.0.0.0/0") }
        manager.reevaluate()
        #expect(await log.wait(forCount: 2) == [.wired, .unreachable])
    }

    @Test("RB-16 without multicast groups the kernel is asked now and then, and the failure is named")
    func withoutEvents() {
        lab.kernel.refuseEvents(
            ReachabilityError(.netlinkRefused, errno: 1, context: "groups refused", advice: ""))
        let manager = lab.manager()
        manager.startMonitoring()
        #expect(manager.status == .wired)
        #expect(manager.failure?.code == .netlinkRefused)
        #expect(manager.limitations == .noEvents)
    }

    @Test("RB-13 the kernel's refusals are reported once, and again after a new start") func limitations()
        async
    {
        let reported = EventLog<MonitorLimitations>()
        let manager = lab.manager()
        lab.kernel.limit(.unfiltered)
        manager.setLimitationBlock { reported.append($0) }
        manager.startMonitoring()
        #expect(manager.limitations == .unfiltered)
        lab.unplug()
        lab.plug()
        lab.kernel.limit([.unfiltered, .partialEvents])
        lab.unplug()
        await lab.settled()
        #expect(await reported.wait(forCount: 2) == [.unfiltered, .partialEvents])
        #expect(manager.limitations == [.unfiltered, .partialEvents])
        let late = EventLog<MonitorLimitations>()
        manager.setLimitationBlock { late.append($0) }
        #expect(await late.wait(forCount: 1) == [[.unfiltered, .partialEvents]])
        manager.stopMonitoring()
        #expect(manager.limitations == [])
        manager.startMonitoring()
        #expect(await late.wait(forCount: 2).last == [.unfiltered, .partialEvents])
        #expect(reported.elements.count == 2)
    }

    @Test("RB-16 where the kernel refuses everything the status is unknown, with the reason") func refused()
        async
    {
        lab.kernel.refuse(
            ReachabilityError(.netlinkRefused, errno: 1, context: "netlink refused", advice: "try this"))
        let manager = lab.manager()
        manager.setStatusChangeBlock { [log] in log.append($0) }
        manager.startMonitoring()
        #expect(await log.wait(forCount: 1) == [.unknown])
        #expect(manager.path.reason.sentence == "netlink refused; try this")
        lab.kernel.refuse(nil)
        manager.reevaluate()
        #expect(await log.wait(forCount: 2) == [.unknown, .wired])
    }

    @Test func deliversOnACustomQueue() async {
        let submitted = EventLog<Bool>()
        let manager = lab.kernel.manager(
            queue: .custom { work in
                submitted.append(true)
                work()
            })
        manager.setStatusChangeBlock { [log] in log.append($0) }
        manager.startMonitoring()
        await log.wait(forCount: 1)
        #expect(submitted.elements.count == 1)
    }
}
