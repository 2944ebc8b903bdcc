// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Reachability
import SessionCore
import SessionManager
import SessionManagerExtras
import TestSupport
import Testing

/// What threads do to one task at the same time.
struct ActivityOrderTests {
    @Test("a task that is ended while another thread resumes it is not counted for ever")
    func endedMeanwhile() async throws {
        let lab = try await Lab()
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        defer { for end in ends { close(end) } }
        let events = lab.manager.events
        let reader = Task {
            for await event in events {
                if case .completed(let task, _) = event, task.kind == .upload { _ = write(writing, [1], 1) }
            }
        }
        defer { reader.cancel() }
        lab.manager.eventMonitors = [
            EventMonitor(queue: .custom { $0() }) { task, step in
                // After the task has become a running one, and before the event says so.
                guard case .resumed = step, task.kind == .upload else { return }
                task.cancel()
                var wanted = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
                #expect(poll(&wanted, 1, 60_000) == 1)
            }
        ]
        let seen = EventLog<Bool>()
        let indicator = ActivityIndicator(activationDelay: .zero, completionDelay: .zero) { seen.append($0) }
        indicator.follow(lab.manager)
        indicator.isEnabled = true
        let task = try lab.manager.uploadTask(with: lab.request("/hold/never", .post), from: Data([1]))
        let resumed = Box<Bool>()
        // On a thread that may wait.
        DeliveryQueue.own.submit {
            task.resume()
            resumed.put(true)
        }
        #expect(await resumed.value)
        _ = try await lab.run(lab.request("/get"))
        #expect(await seen.wait(forCount: 2) == [true, false])
        #expect(!indicator.isVisible && indicator.activityCount == 0)
    }
}
