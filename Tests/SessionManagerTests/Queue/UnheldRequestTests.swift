// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import SessionCore
import SessionManager
import TestSupport
import Testing

/// When a queue starts the monitor that it follows, and what the error of a request says that was not held.
struct UnheldRequestTests {
    /// A shared manager of this test's own, over a network without a way out.
    private func shared() throws -> ReachabilityManager {
        FakeKernel(FakeNetwork(), reactor: try Reactor.shared).manager()
    }

    private func lab(
        _ change: @escaping (inout RequestQueue.Settings) -> Void
    ) async throws -> QueueLab {
        try await QueueLab { settings in
            settings.follows = .shared
            change(&settings)
        }
    }

    @Test("API-040 the first task starts the shared manager, so that it waits without a network")
    func starts() async throws {
        let shared = try shared()
        let lab = try await lab { $0.sharedManager = { shared } }
        #expect(!shared.isMonitoring)
        let task = try lab.task("/get")
        await lab.counts { $0.waitingForNetwork == 1 }
        #expect(shared.isMonitoring && shared.status == .unreachable)
        guard case .network? = task.waitingReason else {
            return #expect(Bool(false), "\(task.holdReasons)")
        }
        task.cancel()
    }

    @Test(
        "API-041 startsMonitoring = false leaves that to the program: the task leaves, and its error says why"
    )
    func startsNothing() async throws {
        let shared = try shared()
        let lab = try await lab {
            $0.sharedManager = { shared }
            $0.startsMonitoring = false
        }
        let answered = try lab.task("/get")
        #expect(await answered.outcome().error == nil)
        #expect(!shared.isMonitoring)
        let refused = try await refusal(lab)
        #expect(refused.code == .cannotConnectToHost)
        #expect(
            refused.advice.hasSuffix(
                "the request did not wait for the network, since nothing is known of it: ReachabilityManager.shared was not started, and the queue's startsMonitoring is false"
            ))
        shared.startMonitoring()
        let held = try lab.task("/get")
        await lab.counts { $0.waitingForNetwork == 1 }
        held.cancel()
    }

    @Test("API-042 the error of a queue that follows none, or a provider that knows nothing, says that")
    func followsNone() async throws {
        let none = try await refusal(lab { $0.follows = .none })
        #expect(none.advice.contains("since its queue follows none (RequestQueue.follows)"))
        let unknown = try await refusal(QueueLab(.unknown))
        #expect(unknown.advice.contains("since nothing is known of it: "))
        // Where the network is known, the server is the reason.
        let known = try await refusal(QueueLab(.wired))
        #expect(!known.advice.contains("did not wait"))
    }

    @Test("API-043 a task that does not want to wait, or has waited long enough, says which it is")
    func impatient() async throws {
        let lab = try await QueueLab(.unreachable)
        let impatient = try await lab.task("/get") { $0.waitsForNetwork = false }.outcome().error
        #expect(impatient?.code == .notConnectedToInternet)
        #expect(impatient?.message == "there is no network: eth0: no carrier")
        #expect(impatient?.advice == "it did not wait for one, since its waitsForNetwork is false")
        let patient = try await lab.task("/get") { $0.offlineLimit = .milliseconds(1) }.outcome().error
        #expect(patient?.advice == "it waited as long as offlineLimit says")
    }

    /// The error of a request to a port of the origin's machine where nothing listens.
    private func refusal(_ lab: QueueLab) async throws -> SessionError {
        var configuration = SessionConfiguration()
        configuration.hostAddresses = ["device.test:1:127.0.0.1"]
        configuration.proxy = ""
        let manager = URLSessionManager(configuration: configuration, queue: lab.queue.settings)
        let task = try manager.dataTask(with: SessionRequest("http://device.test:1/"))
        task.resume()
        return try #require(await task.outcome().error)
    }
}
