// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// A sleep during which the kernel's events were lost.
struct ResumeAfterLossTests {
    private let start = MonotonicInstant(nanoseconds: 0)

    @Test(
        "RB-26 lost events and a sleep, in either order, before the evaluation: a new generation, once",
        arguments: [true, false])
    func generation(isLossFirst: Bool) {
        var machine = ReachabilityStateMachine(timing: .init())
        machine.started()
        _ = machine.evaluated(Marbles.path("e"), at: start)
        let events: [NetworkEvent] = [.overrun, .resumed(after: .seconds(30))]
        let verdicts = (isLossFirst ? events : events.reversed()).map {
            machine.observed($0, at: start + .seconds(1))
        }
        #expect(verdicts.contains(.evaluate))
        guard case .publish(let update) = machine.evaluated(Marbles.path("e"), at: start + .seconds(1)) else {
            Issue.record("a new generation is a path update")
            return
        }
        #expect(update.event == .path && update.path.generation == 2)
    }

    @Test(
        "RB-26 after lost events, and after a sleep, no answer of the kernel holds",
        arguments: [NetworkEvent.overrun, .resumed(after: .seconds(30))])
    func answers(event: NetworkEvent) throws {
        let cache = KernelCache()
        let (v4, v6) = (try #require(IPAddress("192.0.2.1")), try #require(IPAddress("2001:db8::1")))
        let link = KernelAnswer.link(LinkState(index: 2, name: "eth0"))
        let route = KernelAnswer.route(RouteAnswer(kind: .unicast, interface: 2))
        let known: [(KernelQuestion, KernelAnswer)] = [
            (.link(2), link), (.links, .links([])), (.ports(master: 3), .links([])),
            (.addresses, .addresses([])), (.rules, .rules(PolicyRules())), (.wireless(2), .failure(19)),
            (.route(RouteLookup(destination: v4)), route), (.route(RouteLookup(destination: v6)), route),
            (.route(RouteLookup(destination: v4, interface: 2)), route),
            (.route(RouteLookup(destination: v6, interface: 2)), route),
        ]
        for (question, answer) in known { cache.store(question, answer) }
        #expect(known.allSatisfy { cache[$0.0] != nil })
        cache.invalidate(after: event)
        for (question, _) in known { #expect(cache[question] == nil, "\(question)") }
    }
}
