// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore
import SessionCore
import TestSupport

extension Report {
    /// What a monitor reports on a network in memory, without delays.
    init(_ network: FakeNetwork, internet: InternetState? = nil, generation: UInt64 = 1) {
        var path = network.evaluate(.general)
        path.generation = generation
        self.init(status: path.instantStatus, path: path, links: Self.links(network))
        self.internet = internet
    }

    private static func links(_ network: FakeNetwork) -> [LinkReport] {
        var snapshot = Snapshot()
        for _ in 0..<40 {
            switch LinkReporter(evaluator: .general).report(snapshot) {
            case .reports(let reports): return reports
            case .needs(let questions):
                for question in questions { snapshot.add(question, network.answer(question)) }
            }
        }
        return []
    }
}

extension FakeNetwork {
    /// The same with or without a carrier of a link.
    func with(_ name: String, carrier: Bool) -> FakeNetwork {
        var network = self
        network.setCarrier(network.index(name), carrier)
        return network
    }

    /// eth0 and eth1, up and without a carrier.
    static var unplugged: FakeNetwork {
        var network = FakeNetwork()
        network.addLink("eth0", up: false)
        network.addLink("eth1", up: false)
        return network
    }
}

extension MonotonicInstant {
    static func at(milliseconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    }
}
