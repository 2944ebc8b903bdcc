// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import SessionManager
import TestSupport
import Testing

@testable import reach

/// What `reach get` and `reach doctor` tell of a wrong clock.
struct GetClockTests {
    @Test("UPL-164 a transfer that waits for the clock is told as such, and it is no longer when it goes on")
    func meter() async throws {
        let origin = try await TestSupport.Origin.shared
        var configuration = SessionConfiguration()
        configuration.hostAddresses = origin.resolveEntries
        configuration.proxy = ""
        var policy = SecurityPolicy.default
        policy.trustRoots = .only(.file(origin.pem(.root)))
        let timer = SettableTimer()
        var queue = RequestQueue.Settings()
        queue.follows = .none
        queue.clock = ClockCalls(
            status: { ClockStatus(isSynchronized: false, seconds: 40) },
            openTimer: { () throws(ReactorError) in try timer.open() })
        let manager = URLSessionManager(
            configuration: configuration, securityPolicy: policy,
            responseSerializer: HTTPResponseSerializer(), queue: queue)
        let task = try manager.dataTask(with: SessionRequest(origin.url("/get", at: .future)))
        let meter = GetMeter()
        meter.follow(task)
        let held = EventLog<HoldReason>()
        // After the meter, which has the reason then.
        let end = task.observeEvents { event in if case .held(_, let reason) = event { held.append(reason) } }
        task.resume()
        await held.wait(forCount: 1)
        let reason = try #require(meter.waitingReason)
        #expect(WaitingText(reason, nil, isUnicode: true).text == "waiting for the clock to be set")
        #expect(WaitingText(reason, nil, isUnicode: true).line(columns: 20) == "waiting")
        end()
        manager.queue.waitsForClock = false
        #expect(await task.outcome().error?.code == .certificateNotYetValid)
    }
}
