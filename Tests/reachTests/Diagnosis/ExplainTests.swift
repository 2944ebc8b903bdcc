// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

@testable import reach

@Suite("What the core says to people")
struct ExplainTests {
    private func answers(
        _ network: FakeNetwork, to needs: (Snapshot) -> [KernelQuestion]
    ) -> Snapshot {
        var snapshot = Snapshot()
        while case let questions = needs(snapshot), !questions.isEmpty {
            for question in questions { snapshot.add(question, network.answer(question)) }
        }
        return snapshot
    }

    private func steps(_ network: FakeNetwork) -> [EvaluationStep] {
        let snapshot = answers(network) {
            if case .needs(let questions) = PathEvaluator.general.evaluate($0) { questions } else { [] }
        }
        return PathEvaluator.general.explain(snapshot)
    }

    @Test("the route comes first, by its interface's name, and then the link that it leads to")
    func order() throws {
        let steps = steps(.wired)
        #expect(steps.map(\.question).prefix(2) == ["route to 12.0.0.1", "link eth0"])
        #expect(steps.first?.answer == "via 192.0.2.1 dev eth0 src 192.0.2.2 metric 100")
        #expect(steps.first?.conclusion == "it leads to eth0")
        #expect(steps.first?.code == nil)
        #expect(!steps.contains { $0.answer.contains("#") })
    }

    @Test("the legs of a route are named, also those that the lookup did not choose")
    func legs() throws {
        var network = FakeNetwork()
        let (a0, b0) = (network.addLink("a0"), network.addLink("b0"))
        network.addAddress("10.1.0.2/24", to: a0)
        network.addAddress("10.2.0.2/24", to: b0)
        network.addRoute(
            "0.0.0.0/0", metric: 7, legs: [RouteAnswer.Leg(interface: a0), RouteAnswer.Leg(interface: b0)])
        network.setCarrier(a0, false)
        let steps = steps(network)
        #expect(steps.first?.answer == "dev a0 src 10.1.0.2 metric 7 legs a0,b0")
        #expect(!steps.contains { $0.answer.contains("#") })
    }

    @Test("the step that decides bears the code")
    func code() {
        var network = FakeNetwork.wired
        network.setCarrier(network.index("eth0"), false)
        let link = steps(network).first { $0.question == "link eth0" }
        #expect(link?.conclusion == "eth0: no carrier")
        #expect(link?.code == .linkDown)
    }

    @Test(
        "a link behind a refusing route says so, not that its route is missing",
        arguments: [
            (RouteAnswer.Kind.prohibit, "a route or rule of type prohibit refuses it"),
            (.blackhole, "a route or rule of type blackhole swallows it"),
            (.unreachable, "a route or rule of type unreachable refuses it"),
        ])
    func refused(kind: RouteAnswer.Kind, words: String) throws {
        var network = FakeNetwork.wired
        network.removeRoutes("0.0.0.0/0", metric: 100)
        network.addRoute("0.0.0.0/0", metric: 1, kind: kind)
        let reporter = LinkReporter(evaluator: .general)
        let snapshot = answers(network) {
            switch (reporter.report($0), PathEvaluator.general.evaluate($0)) {
            case (.needs(let questions), _), (_, .needs(let questions)): questions
            default: []
            }
        }
        guard case .reports(let reports) = reporter.report(snapshot) else { return #expect(Bool(false)) }
        let eth0 = try #require(reports.first { $0.name == "eth0" })
        #expect(eth0.reason.sentence == "eth0 has carrier and 192.0.2.2/24 but \(words)")
    }
}
