// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachTesting
import Synchronization
import Testing

/// Time that a test moves.
@Suite struct ManualClockTests {
    private let clock = ManualClock()

    @Test("API-220 A delayed answer comes when the clock was moved so far, and not before")
    func delay() async throws {
        let manager = URLSessionManager { [clock] _ in .text("late").delayed(by: .seconds(3_600), on: clock) }
        // The manager lives in real time, of which a busy machine may need more than the limit of silence.
        var request = try SessionRequest("https://api.example.com/")
        request.options.timeoutInterval = .zero
        let task = try manager.dataTask(with: request)
        task.resume()
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(3_599))
        #expect(clock.sleeperCount == 1 && task.state == .running && task.response == nil)
        await clock.advance(by: .seconds(1))
        #expect(await task.outcome().data == Data("late".utf8))
        #expect(clock.now.duration(to: ManualClock().now) == .seconds(-3_600))
    }

    @Test("API-221 Chunks come by the clock; one move passes several pauses")
    func chunks() async throws {
        let pieces = ["one", "two", "three"].map { Data($0.utf8) }
        let manager = URLSessionManager { [clock] _ in .chunks(pieces, every: .seconds(10), on: clock) }
        // The manager lives in real time, as in the test before.
        var request = try SessionRequest("https://api.example.com/")
        request.options.timeoutInterval = .zero
        // One pause after the other: each chunk but the first has one.
        var iterator = try await manager.stream(for: request).1.makeAsyncIterator()
        for (index, piece) in pieces.enumerated() {
            if index > 0 {
                try await clock.waitForSleepers()
                await clock.advance(by: .seconds(10))
            }
            #expect(try await iterator.next() == piece)
        }
        #expect(try await iterator.next() == nil)
        // Both in one move.
        iterator = try await manager.stream(for: request).1.makeAsyncIterator()
        #expect(try await iterator.next() == pieces[0])
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(20))
        var rest = Data()
        while let chunk = try await iterator.next() { rest.append(chunk) }
        #expect(rest == Data("twothree".utf8))
    }

    private func error(
        _ answer: Answer, after seconds: Int, _ change: (inout SessionRequest) -> Void
    ) async throws -> SessionError? {
        let (arrivals, arrived) = AsyncStream<Void>.makeStream()
        let manager = URLSessionManager(clock: clock) { _ in
            arrived.yield()
            return answer
        }
        var request = try SessionRequest("https://api.example.com/")
        change(&request)
        let task = try manager.dataTask(with: request)
        task.resume()
        _ = try await arrivals.first(within: .seconds(60)) { _ in true }
        await clock.advance(by: .seconds(seconds - 1))
        #expect(task.state == .running)
        await clock.advance(by: .seconds(1))
        return await task.outcome().error
    }

    @Test("API-222 Limits of silence, of the first byte and of the whole task pass on the clock")
    func limits() async throws {
        let silent = try await error(.silence, after: 60) { _ in }
        #expect(silent?.code == .timedOut)
        #expect(silent?.message == "nothing came from the server for 60.0 seconds")
        let first = try await error(.silence, after: 5) { $0.options.timeouts.firstByte = .seconds(5) }
        #expect(first?.message.hasPrefix("the server has not begun to answer") == true)
        let total = try await error(.silence, after: 9) { $0.options.timeouts.total = .seconds(9) }
        #expect(total?.message == "the task was not done after 9.0 seconds")
    }

    @Test("API-223 Pauses between tries pass on the clock")
    func retries() async throws {
        let count = Mutex(0)
        let manager = URLSessionManager(clock: clock) { _ in
            count.withLock { $0 += 1 }
            return .status(503)
        }
        manager.interceptor = Interceptor(retriers: [
            Retrier { _, state, _ in state.retryCount < 2 ? .retryAfter(.seconds(600)) : .doNotRetry }
        ])
        let steps = manager.recordSteps()
        let task = try manager.dataTask(with: SessionRequest("https://api.example.com/"))
        task.resume()
        for tries in 1...2 {
            _ = try await steps.first(within: .seconds(60), "another try") {
                if case .retrying = $0.step { true } else { false }
            }
            #expect(count.withLock { $0 } == tries)
            await clock.advance(by: .seconds(600))
        }
        #expect(await task.outcome().response?.statusCode == 503)
        #expect(count.withLock { $0 } == 3)
    }

    @Test("API-224 The queue's limits pass on the clock: a wait for the network, and the settle time")
    func queue() async throws {
        let network = ScriptedNetwork(.unreachable)
        let manager = URLSessionManager(network: network, clock: clock) { _ in .status(204) }
        let events = manager.events
        var options = TaskOptions()
        options.offlineLimit = .seconds(300)
        let request = try SessionRequest("https://api.example.com/")
        let impatient = try manager.dataTask(with: request, options: options)
        let patient = try manager.dataTask(with: request)
        for task in [impatient, patient] {
            task.resume()
            _ = try await events.first(within: .seconds(60), "a hold") {
                if case .held(let held, _) = $0 { held === task } else { false }
            }
        }
        await clock.advance(by: .seconds(300))
        #expect(await impatient.outcome().error?.code == .notConnectedToInternet)
        network.become(.wired)
        await clock.advance(by: .milliseconds(99))
        #expect(patient.state == .running && patient.response == nil)
        await clock.advance(by: .milliseconds(1))
        #expect(await patient.outcome().response?.statusCode == 204)
    }

    @Test("API-225 A task that sleeps on the clock can be cancelled; waiting in vain for sleepers says so")
    func sleeping() async throws {
        let task = Task { [clock] in try await clock.sleep(for: .seconds(1)) }
        try await clock.waitForSleepers()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
        let failure = await #expect(throws: ExpectationFailure.self) {
            try await clock.waitForSleepers(2, within: .milliseconds(1))
        }
        #expect(failure?.description.hasPrefix("0 and not 2 tasks sleep") == true)
    }
}
