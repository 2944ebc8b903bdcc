// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import ReachTesting
import Reachability
import SessionCore
import SessionManager
import TestSupport
import Testing

/// The queue beside a real server, with a network that the test sets.
struct RequestQueueTests {
    @Test("AF-225 offline, a task waits: nothing is sent, and it says why")
    func waits() async throws {
        let lab = try await QueueLab(.unreachable)
        let task = try lab.task("/get?key=af225")
        let counts = await lab.counts { $0.waitingForNetwork == 1 }
        #expect(counts.active == 0 && counts.total == 1)
        #expect(task.waitingReason == .network("eth0: no carrier"))
        #expect(task.state == .running)
        try await lab.barrier()
        #expect(try await lab.origin.count("af225") == 0)
        lab.network.become(.wired)
        #expect(await task.outcome().error == nil)
        #expect(task.holdReasons == [])
        #expect(try await lab.origin.statistics("af225").connections == 1)
    }

    @Test("AF-226 RS-126 back online, tasks start in order")
    func order() async throws {
        let lab = try await QueueLab(.unreachable) { $0.maximumActiveRequests = 1 }
        let tasks = try (0..<12).map { try lab.task("/get?key=af226&n=\($0)") }
        await lab.counts { $0.waitingForNetwork == 12 }
        lab.network.become(.wifi)
        for task in tasks { #expect(await task.outcome().error == nil) }
        let requests = try await lab.origin.statistics("af226").requests
        #expect(requests == (0..<12).map { "GET /get?key=af226&n=\($0)" })
    }

    @Test("AF-226 and within the limits", arguments: [true, false])
    func limit(byQueue: Bool) async throws {
        let key = "af226-\(byQueue)"
        let lab = try await QueueLab(.unreachable, connections: byQueue ? 6 : 3) {
            if byQueue { $0.maximumRequestsPerHost = 3 }
        }
        let tasks = try (0..<12).map { _ in try lab.task("/delay/0.02?key=\(key)") }
        await lab.counts { $0.waitingForNetwork == 12 }
        lab.network.become(.wifi)
        for task in tasks { #expect(await task.outcome().error == nil) }
        let statistics = try await lab.origin.statistics(key)
        #expect(statistics.count == 12)
        #expect(statistics.peak <= 3)
    }

    @Test("AF-228 offline with two running and three waiting: all are held, none fails, all complete later")
    func parks() async throws {
        let lab = try await QueueLab { $0.maximumActiveRequests = 2 }
        let tasks = try (0..<5).map { _ in try lab.task("/hold/af228?key=af228") }
        try await lab.origin.wait(for: "af228", [.count: 2])
        await lab.counts { $0.active == 2 && $0.waitingForTurn == 3 }
        lab.network.become(.unreachable)
        let counts = await lab.counts { $0.waitingForNetwork == 5 }
        #expect(counts.parked == 2 && counts.active == 0)
        // Nothing of them runs: the server sees them leave.
        try await lab.origin.wait(for: "af228", [.aborted: 2])
        #expect(tasks.allSatisfy { $0.waitingReason == .network("eth0: no carrier") && $0.error == nil })
        lab.network.become(.wired)
        try await lab.origin.release("af228")
        for task in tasks { #expect(await task.outcome().error == nil) }
        #expect(try await lab.origin.count("af228") == 7)
    }

    @Test("AF-228 AF-237 after the limit, what waits and what was parked fails with −1009 and the reason")
    func patience() async throws {
        let lab = try await QueueLab { $0.offlineLimit = .milliseconds(50) }
        let running = try lab.task("/hold/af237?key=af237")
        try await lab.origin.wait(for: "af237", [.count: 1])
        lab.network.become(.unreachable)
        let waiting = try lab.task("/get?key=af237-waiting")
        let patient = try lab.task("/get?key=af237-patient") { $0.offlineLimit = .seconds(3600) }
        for task in [running, waiting] {
            let error = await task.outcome().error
            #expect(error?.code == .notConnectedToInternet)
            #expect(error?.message.contains("eth0: no carrier") == true)
        }
        #expect(patient.state == .running)
        lab.network.become(.wired)
        #expect(await patient.outcome().error == nil)
        #expect(try await lab.origin.count("af237-waiting") == 0)
    }

    @Test("a task that does not wait fails at once, with the reason")
    func impatient() async throws {
        let lab = try await QueueLab(.unreachable)
        let task = try lab.task("/get?key=impatient") { $0.waitsForNetwork = false }
        let error = await task.outcome().error
        #expect(error?.code == .notConnectedToInternet)
        #expect(error?.message.contains("eth0: no carrier") == true)
        #expect(error?.failingURL == task.originalRequest.url)
    }

    @Test("AF-229 the user's pause and the network's are two reasons")
    func twoReasons() async throws {
        let lab = try await QueueLab(.unreachable)
        lab.queue.pause()
        let task = try lab.task("/get?key=af229")
        await lab.counts { $0.waitingForUser == 1 }
        #expect(task.holdReasons == [.user, .network("eth0: no carrier")])
        lab.queue.resume()
        await lab.counts { $0.waitingForNetwork == 1 }
        lab.queue.pause()
        await lab.counts { $0.waitingForUser == 1 }
        lab.network.become(.wired)
        try await lab.barrier()
        // The return did not end the pause.
        #expect(task.waitingReason == .user)
        #expect(try await lab.origin.count("af229") == 0)
        lab.queue.resume()
        #expect(await task.outcome().error == nil)
    }

    @Test("AF-230 RS-125 while the network is unknown, requests are tried")
    func unknown() async throws {
        let lab = try await QueueLab(.unknown)
        #expect(await (try lab.task("/get?key=af230")).outcome().error == nil)
    }

    @Test("AF-232 a suspended task gives its place back, and takes one again", arguments: [true, false])
    func suspended(byQueue: Bool) async throws {
        let key = "af232-\(byQueue)"
        let lab = try await QueueLab(connections: byQueue ? 8 : 4) {
            if byQueue { $0.maximumActiveRequests = 4 }
        }
        let tasks = try (0..<5).map { _ in try lab.task("/hold/\(key)?key=\(key)") }
        try await lab.origin.wait(for: key, [.count: 4])
        await lab.counts { $0.active == 4 && $0.waitingForTurn == 1 }
        tasks[0].suspend()
        // The fifth runs.
        try await lab.origin.wait(for: key, [.count: 5])
        #expect(tasks[0].holdReasons == [.user])
        tasks[0].resume()
        await lab.counts { $0.waitingForTurn == 1 }
        try await lab.origin.release(key)
        for task in tasks { #expect(await task.outcome().error == nil) }
        #expect(try await lab.origin.count(key) == 5)
    }

    @Test("AF-233 20 flips in less than a second: each of 10 GET and 10 POST arrives exactly once")
    func flips() async throws {
        let lab = try await QueueLab(.unreachable) {
            // However long this program is held up, the network is not steady in between.
            ($0.settleTime, $0.flapSettleTime) = (.seconds(3600), .seconds(3600))
        }
        let reasons = EventLog<HoldReason>()
        let events = lab.manager.events
        let tasks = try (0..<20).map { number in
            try lab.task(
                "/anything?key=af233&n=\(number)", number < 10 ? .get : .post,
                body: number < 10 ? nil : .data(Data("x".utf8)))
        }
        let reading = Task {
            for await event in events {
                if case .held(let task, let reason) = event, task === tasks[0] { reasons.append(reason) }
            }
        }
        defer { reading.cancel() }
        await reasons.wait { $0.last == .network("eth0: no carrier") }
        for _ in 0..<20 {
            lab.network.become(.wired)
            try #require(await reasons.wait { $0.last == .settling }.last == .settling)
            lab.network.become(.unreachable)
            let lost = HoldReason.network("eth0: no carrier")
            try #require(await reasons.wait { $0.last == lost }.last == lost)
        }
        (lab.queue.settings.settleTime, lab.queue.settings.flapSettleTime) = (.zero, .zero)
        lab.network.become(.wired)
        for task in tasks { #expect(await task.outcome().error == nil) }
        let statistics = try await lab.origin.statistics("af233")
        #expect(statistics.methods == ["GET": 10, "POST": 10])
        #expect(Set(statistics.requests).count == 20)
    }

    @Test("AF-234 a POST on its way when the network goes is not sent again; its effect is unknown")
    func postOnItsWay() async throws {
        let lab = try await QueueLab()
        let task = try lab.task("/hold/af234?key=af234", .post, body: .data(Data("x".utf8)))
        try await lab.origin.wait(for: "af234", [.count: 1])
        lab.network.become(.unreachable)
        let error = await task.outcome().error
        #expect(error?.code == .networkConnectionLost)
        #expect(error?.description.contains("outcome is unknown") == true)
        lab.network.become(.wired)
        #expect(await (try lab.task("/get?key=af234-after")).outcome().error == nil)
        #expect(try await lab.origin.count("af234") == 1)
    }

    @Test("AF-234 unless it is marked idempotent")
    func idempotentPost() async throws {
        let lab = try await QueueLab()
        let task = try lab.task("/hold/af234-i?key=af234-i", .post, body: .data(Data("x".utf8))) {
            $0.isIdempotent = true
        }
        try await lab.origin.wait(for: "af234-i", [.count: 1])
        lab.network.become(.unreachable)
        await lab.counts { $0.parked == 1 }
        lab.network.become(.wired)
        try await lab.origin.wait(for: "af234-i", [.count: 2])
        try await lab.origin.release("af234-i")
        #expect(await task.outcome().error == nil)
    }

    @Test("AF-236 cancelled while it waits, a task completes at once and never starts")
    func cancelled() async throws {
        let lab = try await QueueLab(.unreachable)
        let task = try lab.task("/get?key=af236")
        await lab.counts { $0.waitingForNetwork == 1 }
        task.cancel()
        #expect(await task.outcome().error?.code == .cancelled)
        await lab.counts { $0 == QueueCounts() }
        lab.network.become(.wired)
        #expect(await (try lab.task("/get?key=af236-after")).outcome().error == nil)
        #expect(try await lab.origin.count("af236") == 0)
    }

    @Test("AF-238 a pause stops the bytes, and the callback queue has nothing to do with it")
    func pauseStopsBytes() async throws {
        let lab = try await QueueLab()
        let first = Box<Void>()
        let task = try lab.task("/drip?n=2&size=1000&gate=af238&key=af238") { options in
            options.downloadProgress = { _ in first.put(()) }
        }
        await first.value
        lab.queue.pause()
        await lab.counts { $0.waitingForUser == 1 && $0.active == 0 }
        let before = task.downloadProgress.completedBytes
        try await lab.origin.release("af238")
        try await lab.origin.wait(for: "af238", [.finished: 1])
        try await lab.barrier()
        #expect(task.downloadProgress.completedBytes == before)
        #expect(task.holdReasons == [.user])
        lab.queue.resume()
        let outcome = await task.outcome()
        #expect(outcome.error == nil && outcome.data?.count == 2000)
    }
}
