// SPDX-License-Identifier: Apache-2.0

import ReachTesting
import Reachability
import SessionCore
import SessionManager
import SessionManagerExtras
import TestSupport
import Testing

struct ActivityIndicatorTests {
    @Test(
        "AF-240 AF-241 an indicator without delays goes on once and off once, whatever the answer",
        arguments: ["/delay/0.1", "/status/404"])
    func once(_ path: String) async throws {
        let lab = try await Lab()
        let seen = EventLog<Bool>()
        let indicator = ActivityIndicator(activationDelay: .zero, completionDelay: .zero) { seen.append($0) }
        indicator.follow(lab.manager)
        indicator.isEnabled = true
        _ = try await lab.run(lab.request(path))
        #expect(await seen.wait(forCount: 2) == [true, false])
        #expect(!indicator.isVisible && indicator.activityCount == 0)
    }

    @Test("AF-242 with delays it goes on a second after the start and off a second after the end")
    func delayed() async throws {
        let lab = try await Lab()
        let (seen, clock) = (EventLog<Bool>(), HandClock())
        let indicator = ActivityIndicator(
            activationDelay: .seconds(1), completionDelay: .seconds(1), clock: clock
        ) { seen.append($0) }
        indicator.follow(lab.manager)
        indicator.isEnabled = true
        let task = try lab.manager.dataTask(with: lab.request("/hold/af242"))
        task.resume()
        await clock.sleeps.wait(forCount: 1)
        clock.advance(by: .milliseconds(999))
        #expect(!indicator.isVisible)
        clock.advance(by: .milliseconds(1))
        #expect(await seen.wait(forCount: 1) == [true])
        try await lab.origin.release("af242")
        #expect(await task.outcome().error == nil)
        #expect(await clock.sleeps.wait(forCount: 2) == [.seconds(1), .seconds(1)])
        #expect(indicator.isVisible)
        clock.advance(by: .seconds(1))
        #expect(await seen.wait(forCount: 2) == [true, false])
    }

    @Test("what is no task counts as well, and no more goes than has come")
    func counted() async {
        let seen = EventLog<Bool>()
        let indicator = ActivityIndicator(activationDelay: .zero, completionDelay: .zero) { seen.append($0) }
        indicator.decrement()
        indicator.isEnabled = true
        indicator.increment()
        indicator.increment()
        #expect(indicator.activityCount == 2 && indicator.isVisible)
        indicator.decrement()
        #expect(indicator.activityCount == 1 && indicator.isVisible)
        indicator.decrement()
        #expect(await seen.wait(forCount: 2) == [true, false])
        #expect(indicator.activityCount == 0 && !indicator.isVisible)
    }

    @Test("short work does not show, and a short pause does not hide")
    func flicker() {
        var machine = ActivityStateMachine(activationDelay: .seconds(1), completionDelay: .seconds(2))
        #expect(machine.began(task: 1) == .nothing)
        #expect(machine.enabled(true) == .armTimer(1, after: .seconds(1)))
        #expect(machine.ended(task: 1) == .nothing)
        #expect(machine.timerFired(1) == .nothing && !machine.isVisible)
        #expect(machine.incremented() == .armTimer(3, after: .seconds(1)))
        #expect(machine.timerFired(1) == .nothing)
        #expect(machine.timerFired(3) == .show)
        #expect(machine.decremented() == .armTimer(4, after: .seconds(2)))
        #expect(machine.began(task: 2) == .nothing)
        #expect(machine.timerFired(4) == .nothing && machine.isVisible)
        #expect(machine.enabled(false) == .hide)
        #expect(machine.count == 1)
        #expect(machine.decremented() == .nothing)
        #expect(machine.count == 1)
    }

    @Test("AF-260 cancelling a suspended task counts down once")
    func suspended() async throws {
        var machine = ActivityStateMachine(activationDelay: .zero, completionDelay: .zero)
        #expect(machine.enabled(true) == .nothing)
        #expect(machine.began(task: 1) == .show)
        #expect(machine.began(task: 2) == .nothing)
        #expect(machine.ended(task: 1) == .nothing)
        #expect(machine.ended(task: 1) == .nothing)
        #expect(machine.count == 1)

        let lab = try await Lab()
        let seen = EventLog<Bool>()
        let indicator = ActivityIndicator(activationDelay: .zero, completionDelay: .zero) { seen.append($0) }
        let first = try lab.manager.dataTask(with: lab.request("/hold/af260"))
        let second = try lab.manager.dataTask(with: lab.request("/hold/af260"))
        first.resume()
        // Runs already when it is followed.
        indicator.follow(lab.manager)
        indicator.isEnabled = true
        #expect(indicator.activityCount == 1)
        second.resume()
        second.suspend()
        second.cancel()
        _ = await second.outcome()
        #expect(await seen.wait(forCount: 1) == [true])
        try await lab.origin.release("af260")
        _ = await first.outcome()
        #expect(await seen.wait(forCount: 2) == [true, false])
        #expect(seen.elements.count == 2)
    }

    @Test("AF-256 what is bound to a task starts and stops with it; the task does not notice when it dies")
    func binding() async throws {
        let lab = try await Lab()
        let seen = EventLog<TaskBinding.Moment>()
        let task = try lab.manager.dataTask(with: lab.request("/hold/af256"))
        let binding = TaskBinding { seen.append($0) }
        binding.bind(to: task)
        #expect(await seen.wait(forCount: 1).map(\.isActive) == [false])
        // How often it waits for its turn meanwhile is the machine's matter.
        task.resume()
        await seen.wait { $0.last?.isActive == true }
        task.suspend()
        await seen.wait { $0.last?.isActive == false }
        task.resume()
        await seen.wait { $0.last?.isActive == true }
        let phases = seen.elements.map(\.isActive).reduce(into: [Bool]()) { phases, isActive in
            if phases.last != isActive { phases.append(isActive) }
        }
        #expect(phases == [false, true, false, true])
        // Each dies at another moment.
        for moment in 0..<3 {
            var short: TaskBinding? = TaskBinding { _ in }
            let other = try lab.manager.dataTask(with: lab.request("/get"))
            short?.bind(to: other)
            if moment == 0 { short = nil }
            other.resume()
            if moment == 1 { short = nil }
            #expect(await other.outcome().error == nil)
            short?.bind(to: nil)
        }
        try await lab.origin.release("af256")
        #expect(await task.outcome().error == nil)
        let end = await seen.wait { $0.last?.isActive == false && $0.count > 4 }
        #expect(end.last?.download.completedBytes == end.last?.download.totalBytes)
        // Over already: nothing is shown.
        let late = EventLog<TaskBinding.Moment>()
        let second = TaskBinding { late.append($0) }
        second.bind(to: task)
        second.bind(to: nil)
        #expect(late.elements.isEmpty)
    }

    @Test("AF-256 what is bound to a task hears why it waits, and that it goes on")
    func bindingThatWaits() async throws {
        let lab = try await QueueLab(.wired)
        let task = try lab.task("/hold/af256-wait")
        let seen = EventLog<TaskBinding.Moment>()
        let binding = TaskBinding { seen.append($0) }
        binding.bind(to: task)
        let lost = HoldReason.network("eth0: no carrier")
        lab.network.become(.unreachable)
        await seen.wait { $0.last?.waitingReason == lost }
        lab.network.become(.wired)
        let moments = await seen.wait { $0.last?.waitingReason == nil && $0.count > 1 }
        #expect(moments.contains { $0.waitingReason == lost })
        try await lab.origin.release("af256-wait")
        #expect(await task.outcome().error == nil)
        withExtendedLifetime(binding) {}
    }
}
