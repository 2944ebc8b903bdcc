// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
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
        // The network changed during the lookup: the name is resolved once more.
        #expect(machine.deadlineReached(at: start) == .resolve)
        #expect(machine.answered(.success(addresses), at: start) == .unchanged)
        #expect(machine.deadlineReached(at: start + .seconds(1)) == .nothing)
    }

    @Test("the same addresses in another order are no news")
    func rotation() {
        let both = ["192.0.2.7", "192.0.2.8"].compactMap { ReachabilityDestination($0) }
        var machine = NameResolutionStateMachine()
        _ = machine.started()
        #expect(machine.answered(.success(both), at: start) == .resolved(both))
        _ = machine.deadlineReached(at: start + .seconds(300))
        #expect(machine.answered(.success(both.reversed()), at: start + .seconds(300)) == .unchanged)
        _ = machine.deadlineReached(at: start + .seconds(600))
        #expect(machine.answered(.success(addresses), at: start + .seconds(600)) == .resolved(addresses))
        _ = machine.deadlineReached(at: start + .seconds(900))
        #expect(machine.answered(.success(both), at: start + .seconds(900)) == .resolved(both))
    }

    @Test func earlierAddressesOutliveAFailure() {
        var machine = NameResolutionStateMachine()
        _ = machine.started()
        _ = machine.answered(.success(addresses), at: start)
        _ = machine.networkChanged()
        #expect(machine.answered(.failure(.noSuchName("gone")), at: start) == .unchanged)
    }

    @Test func addressesAreAskedForAgainAfterFiveMinutes() {
        var machine = NameResolutionStateMachine()
        _ = machine.started()
        _ = machine.answered(.success(addresses), at: start)
        let armed = machine.nextDeadline
        #expect(armed == start + .seconds(300))
    }

    @Test("an answer and another network both set the pauses back")
    func pausesBeginAnew() {
        let failure = NameFailure.temporary("EAI_AGAIN")
        for isNetwork in [true, false] {
            var machine = NameResolutionStateMachine()
            _ = machine.started()
            _ = machine.answered(.failure(failure), at: start)
            if isNetwork {
                _ = machine.networkChanged()
            } else {
                _ = machine.deadlineReached(at: start + .seconds(1))
                _ = machine.answered(.success(addresses), at: start)
                _ = machine.deadlineReached(at: start + .seconds(300))
            }
            _ = machine.answered(.failure(failure), at: start)
            let armed = machine.nextDeadline
            #expect(armed == start + .seconds(1))
        }
    }

    @Test("a name without an address: what is known with a way out, and what without")
    func unresolved() {
        let temporary = NameFailure.temporary("no name server answers")
        let online = FakeNetwork.wired.evaluate(.general)
        #expect(ReachabilityPath.unresolved("a.example", temporary, general: online) == nil)
        let noSuchName = ReachabilityPath.unresolved(
            "a.example", .noSuchName("no such name"), general: online)
        #expect(noSuchName?.reason.sentence == "no such name")
        var network = FakeNetwork.wiredAndWiFi
        network.setCarrier(network.index("eth0"), false)
        let offline = ReachabilityPath.unresolved(
            "a.example", temporary, general: network.evaluate(.general))
        #expect(offline?.instantStatus == .unreachable)
        #expect(offline?.alternative == "wlan0")
        #expect(offline?.alternativeMedium == .wifi)
        #expect(offline?.isAlternativeExpensive == false)
        #expect(offline?.reason.code == .unresolved)
        #expect(offline?.reason.sentence.hasPrefix("cannot resolve a.example: eth0: no carrier") == true)
    }
}
