// SPDX-License-Identifier: Apache-2.0

import EventLoop
import TestSupport
import Testing

/// Sleeps of tasks on a loop.
@Suite struct ReactorSleepTests {
    @Test func sleep_EndsAtItsDeadline() async throws {
        let reactor = try Reactor(name: "test")
        let deadline = Reactor.now + 20_000_000
        #expect(await reactor.sleep(until: deadline))
        #expect(Reactor.now >= deadline)
        #expect(await reactor.sleep(until: 0), "a deadline that has passed")
    }

    @Test func sleep_EndsWithItsTask() async throws {
        let reactor = try Reactor(name: "test")
        let task = try await sleeper(on: reactor)
        task.cancel()
        #expect(await task.value == false)
        #expect(try await reactor.result { reactor.holdings.timers } == 0)
        // One that is cancelled before it begins.
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await reactor.sleep(until: .max)
        }
        #expect(await late.value == false)
        #expect(try await reactor.result { reactor.holdings.timers } == 0)
    }

    @Test func sleep_EndsWithItsLoop() async throws {
        let reactor = try Reactor(name: "test")
        let task = try await sleeper(on: reactor)
        reactor.stop()
        #expect(await task.value == false)
        #expect(await reactor.sleep(until: .max) == false)
    }

    /// A task that sleeps without end, once its timer is set.
    private func sleeper(on reactor: Reactor) async throws -> Task<Bool, Never> {
        let task = Task { await reactor.sleep(until: .max) }
        while try await reactor.result(of: { reactor.holdings.timers }) == 0 { await Task.yield() }
        return task
    }
}
