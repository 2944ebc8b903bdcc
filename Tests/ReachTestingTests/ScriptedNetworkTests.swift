// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import ReachTesting
import Synchronization
import Testing

/// A network that a test moves, and what follows it.
@Suite struct ScriptedNetworkTests {
    private func manager(_ network: ScriptedNetwork) -> URLSessionManager {
        URLSessionManager(network: network) { _ in .status(204) }
    }

    @Test("API-230 A request waits for the network with the sentence of its loss, and leaves when it is back")
    func waiting() async throws {
        let network = ScriptedNetwork(.unreachable)
        let manager = manager(network)
        let events = manager.events
        let task = try manager.dataTask(with: SessionRequest("https://api.example.com/"))
        task.resume()
        _ = try await events.first(within: .seconds(60), "a hold") {
            if case .held(_, .network("eth0: no carrier")) = $0 { true } else { false }
        }
        network.become(.wifi)
        #expect(await task.outcome().response?.statusCode == 204)
        #expect(network.observerCount == 1)
    }

    @Test("API-231 An expensive network and one on which data is to be saved hold what must not use them")
    func conditions() async throws {
        let network = ScriptedNetwork(.unreachable)
        network.become(.wired, medium: .cellular, isExpensive: true, isConstrained: true)
        let manager = manager(network)
        let events = manager.events
        var request = try SessionRequest("https://api.example.com/")
        request.options.allowsExpensiveNetwork = false
        let cheap = try manager.dataTask(with: request)
        var options = TaskOptions()
        options.networkCondition = .notConstrained
        let saving = try manager.dataTask(
            with: SessionRequest("https://api.example.com/"), options: options)
        for (task, condition) in [(cheap, NetworkCondition.notExpensive), (saving, .notConstrained)] {
            task.resume()
            _ = try await events.first(within: .seconds(60), "a hold") {
                if case .held(_, .condition(condition)) = $0 { true } else { false }
            }
        }
        network.become(.wired, medium: .cellular, isConstrained: true)
        #expect(await cheap.outcome().error == nil)
        #expect(saving.state == .running)
        network.become(.wifi)
        #expect(await saving.outcome().error == nil)
    }

    @Test("API-232 Observers get the present state, then each change in order, and nothing after their end")
    func observers() {
        let network = ScriptedNetwork()
        let seen = Mutex<[String]>([])
        let observation = network.observeReachability { update in
            seen.withLock { $0.append("\(update.event) \(update.status)") }
            // From an observer: reported behind this one.
            if update.status == .unreachable { network.become(.wired) }
        }
        network.become(.wifi)
        network.become(.wifi, interface: "wlan1")
        network.become(.unreachable)
        observation.cancel()
        network.become(.wifi)
        #expect(
            seen.withLock { $0 } == [
                "initial unknown", "status wifi", "path wifi", "status unreachable", "status wired",
            ]
        )
        #expect(network.observerCount == 0)
        // One that is ended by another's call does not get what that one was called for.
        let later = Mutex<ReachabilityObservation?>(nil)
        let first = network.observeReachability { update in
            if update.status == .wired { later.withLock { $0?.cancel() } }
        }
        let second = network.observeReachability { update in
            seen.withLock { $0.append("\(update.status)") }
        }
        later.withLock { $0 = second }
        network.become(.wired)
        network.become(.wifi)
        #expect(seen.withLock { $0.count } == 6)
        first.cancel()
        let (status, path) = network.currentReachability()
        #expect(status == .wifi && path.interface == "wlan0" && path.isOnline)
    }

    @Test("API-233 An observer may end its own subscription, and another thread's cancel waits for the call")
    func cancelling() async {
        let network = ScriptedNetwork()
        let count = Mutex(0)
        let own = Mutex<ReachabilityObservation?>(nil)
        own.withLock { own in
            own = network.observeReachability { _ in count.withLock { $0 += 1 } }
        }
        let other = network.observeReachability { update in
            if update.status == .wired { own.withLock { $0?.cancel() } }
        }
        let selfish = Mutex<ReachabilityObservation?>(nil)
        let observation = network.observeReachability { update in
            if update.status == .wired { selfish.withLock { $0?.cancel() } }
        }
        selfish.withLock { $0 = observation }
        await withTaskGroup(of: Void.self) { group in
            for status in [ReachabilityStatus.wifi, .unreachable, .wired] {
                group.addTask { network.become(status) }
            }
        }
        let calls = count.withLock { $0 }
        network.become(.wifi)
        #expect(count.withLock { $0 } == calls)
        #expect(network.observerCount == 1)
        other.cancel()
        // It holds itself otherwise.
        selfish.withLock { $0 = nil }
        // A call that another thread is in has ended when the cancel returns.
        let slow = ScriptedNetwork()
        let (entered, entry) = AsyncStream<Void>.makeStream()
        let hasEnded = Mutex(false)
        let waiting = slow.observeReachability { update in
            guard update.status == .wired else { return }
            entry.finish()
            // Slow, so that a cancel which does not wait returns before it has ended.
            usleep(50_000)
            hasEnded.withLock { $0 = true }
        }
        let change = Task.detached { slow.become(.wired) }
        for await _ in entered {}
        waiting.cancel()
        #expect(hasEnded.withLock { $0 })
        await change.value
    }

    @Test("API-235 A probe finds what the network's internet is; tasks that require it wait meanwhile")
    func internet() async throws {
        let clock = ManualClock()
        let network = ScriptedNetwork(.wifi)
        network.internet = .portal
        let probe = try network.makeProbe(clock: clock)
        let states = probe.states
        probe.start()
        #expect(try await states.first(within: .seconds(60)) { $0 != .unknown } == .portal)
        #expect(probe.portalURL?.host() == "portal.example.com")
        let manager = URLSessionManager(network: network, clock: clock) { _ in .status(204) }
        manager.queue.internetProbe = probe
        let events = manager.events
        var options = TaskOptions()
        options.requiresInternet = true
        let task = try manager.dataTask(with: SessionRequest("https://api.example.com/"), options: options)
        task.resume()
        _ = try await events.first(within: .seconds(60), "a hold") {
            if case .held(_, .internet) = $0 { true } else { false }
        }
        network.internet = .full
        _ = try await probe.states.first(within: .seconds(60), "the internet") { $0 == .full }
        await clock.advance(by: .seconds(1))
        #expect(await task.outcome().response?.statusCode == 204)
    }

    @Test("API-234 What is waited for in vain is named with what came instead")
    func expectations() async throws {
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        for number in 1...25 { continuation.yield(number) }
        let late = await #expect(throws: ExpectationFailure.self) {
            try await stream.first(within: .milliseconds(200), "a hundred") { $0 == 100 }
        }
        #expect(late?.description.hasPrefix("a hundred did not come within 0.2 seconds") == true)
        #expect(
            late?.description.hasSuffix(
                "25 came instead, the last: \((6...25).map { "\($0)" }.joined(separator: ", "))") == true)
        continuation.finish()
        let ended = await #expect(throws: ExpectationFailure.self) {
            try await AsyncStream<Int> { $0.finish() }.first(within: .seconds(60)) { _ in true }
        }
        #expect(ended?.description == "what is expected did not come to the end; nothing came")
        let manager = manager(ScriptedNetwork(.unreachable))
        let (events, holds) = (manager.events, manager.events)
        let waiting = try manager.dataTask(with: SessionRequest("https://api.example.com/"))
        waiting.resume()
        _ = try await holds.first(within: .seconds(60)) { if case .held = $0 { true } else { false } }
        let held = await #expect(throws: ExpectationFailure.self) {
            try await events.first(within: .milliseconds(200), "an end") {
                if case .completed = $0 { true } else { false }
            }
        }
        let words = "\(waiting.identifier) held: waiting for network (eth0: no carrier)"
        #expect(held?.description.contains(words) == true, "\(held?.description ?? "")")
        waiting.cancel()
        let (silent, silence) = AsyncStream<Int>.makeStream()
        let task = Task { try await silent.first(within: .seconds(600)) { _ in true } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        silence.finish()
    }

    @Test(
        "UPL-556 A scripted network has the sequences of a monitor: statuses and updates, the present first")
    func sequences() async throws {
        let network = ScriptedNetwork(.wifi)
        var (statuses, updates) = (
            network.statuses.makeAsyncIterator(), network.pathUpdates.makeAsyncIterator()
        )
        #expect(await statuses.next() == .wifi)
        #expect(await updates.next()?.status == .wifi)
        network.become(.wifi, interface: "wlan1")
        #expect(await updates.next()?.event == .path)
        network.become(.unreachable)
        #expect(await statuses.next() == .unreachable)
        #expect(await updates.next()?.status == .unreachable)
        #expect(network.observerCount == 2)
    }

    @Test(
        "UPL-558 Readers that are cancelled while the network changes leave it working",
        .timeLimit(.minutes(5)))
    func cancelledReaders() async throws {
        let network = ScriptedNetwork(.wifi)
        let changes = Task.detached {
            while !Task.isCancelled {
                network.become(.unreachable)
                network.become(.wifi)
            }
        }
        for _ in 0..<2_000 {
            let reader = Task.detached { for await _ in network.pathUpdates {} }
            await Task.yield()
            reader.cancel()
            await reader.value
        }
        changes.cancel()
        await changes.value
        #expect(network.observerCount == 0)
    }
}
