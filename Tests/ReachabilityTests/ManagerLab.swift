// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import TestSupport

/// A manager on a kernel in memory, which tells every loss at once.
struct ManagerLab {
    let reactor: Reactor
    let kernel: FakeKernel

    init() throws {
        reactor = try Reactor(name: "manager-test")
        kernel = FakeKernel(.wired, reactor: reactor)
    }

    func manager(_ subject: MonitorSubject = .general) -> ReachabilityManager {
        var configuration = ReachabilityConfiguration()
        configuration.timing.evaluationInterval = .zero
        configuration.timing.lossGrace = .zero
        return kernel.manager(subject, configuration)
    }

    func unplug() { kernel.change { $0.setCarrier($0.index("eth0"), false) } }
    func plug() { kernel.change { $0.setCarrier($0.index("eth0"), true) } }

    /// Everything the loop was given so far is done, and the kernel has been asked after it.
    func settled() async {
        kernel.deliver([.requested])
        try? await reactor.result(of: {})
    }
}
