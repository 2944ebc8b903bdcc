// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import Testing

struct NameResolutionTests {
    private let start = MonotonicInstant(nanoseconds: 0)
    private let addresses = ["192.0.2.7"].compactMap { ReachabilityDestination($0) }

    @Test("RS-089 a failure is asked again after 1, 2, 4 … 30 seconds; the first answer counts")
    func backoff() throws {
        var machine = NameResolutionStateMachine()
        #expect(machine.started() == .resolve)
        var now = start
        for pause in [1, 2, 4, 8, 16, 30, 30] {
            let outcome = machine.answered(.failure(.temporary("EAI_AGAIN")), at: now)
            #expect(outcome == .failed(.temporary("EAI_AGAIN")))
            let armed = machine.nextDeadline
            let next = try #require(armed)
            #expect(next == now + .seconds(pause))
            #expect(machine.deadlineReached(at: next + .nanoseconds(-1)) == .nothing)
            #expect(machine.deadlineReached(at: next) == .resolve)
            now = next
        }
        #expect(machine.answered(.success(addresses), at: now) == .resolved(addresses))
    }

    @Test("RS-090 a change of generation asks exactly once")
    func generation() {
        var machine = NameResolutionStateMachine()
        _ = machine.started()
        _ = machine.answered(.success(addresses), at: start)
        #expect(machine.networkChanged() == .resolve)
        #expect(machine.networkChanged() == .nothing)
        #expect(machine.answered(.success(addresses), at: start) == .unchanged)
        // It changed while the question was under way: once more, then quiet.
        #expect(machine.deadlineReached(at: start) == .resolve)
        #expect(machine.answered(.success(addresses), at: start) == .unchanged)
        #expect(machine.deadlineReached(at: start + .seconds(1)) == .nothing)
    }

    @Test func earlierAddressesOutliveAFailure() {
        var machine = NameResolutionStateMachine()
        _ = machine.started()
        _ = machine.answered(.success(addresses), at: start)
        _ = machine.networkChanged()
        #expect(machine.answered(.failure(.noSuchName("gone")), at: start) == .unchanged)
    }
}
