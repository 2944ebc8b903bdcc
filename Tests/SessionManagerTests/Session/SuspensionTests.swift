// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc
import HTTPTypes
import Reachability
import SessionCore
import SessionManager
import Synchronization
import TestSupport
import Testing

/// Suspending and resuming: the last word counts, of any thread; and what a suspension leaves behind.
struct SuspensionTests {
    /// On the loop's thread: has another one say something, and says something itself before that can arrive.
    private func overtake(
        _ lab: Lab, _ other: @escaping @Sendable () -> Void, by own: @escaping @Sendable () -> Void
    ) async throws {
        let queue = try lab.manager.transferQueue
        let speak = Flag()
        let hasSpoken = Flag()
        // A thread of its own: the loop would wait for whatever Swift's tasks wait for.
        let thread = try LoopThread.start(name: "other") {
            while !speak.isRaised { sched_yield() }
            other()
            hasSpoken.raise()
        }
        await withCheckedContinuation { continuation in
            queue.submit {
                speak.raise()
                while !hasSpoken.isRaised { sched_yield() }
                own()
                // Behind the other's message.
                queue.submit { continuation.resume() }
            }
        }
        thread.join()
    }

    private final class Flag: Sendable {
        private let value = Atomic<Bool>(false)
        var isRaised: Bool { value.load(ordering: .acquiring) }
        func raise() { value.store(true, ordering: .releasing) }
    }

    @Test("a suspension on the loop's thread that overtakes the start holds the task until it is resumed")
    func beforeStart() async throws {
        let lab = try await Lab()
        let steps = Diary<String>()
        lab.manager.eventMonitors = [
            EventMonitor(queue: .custom { $0() }) { _, step in
                steps.record(String("\(step)".prefix { $0 != ":" }))
            }
        ]
        let task = try lab.manager.dataTask(with: lab.request("/get"))
        try await overtake(lab) {
            task.resume()
        } by: {
            task.suspend()
        }
        #expect(task.state == .suspended)
        #expect(task.holdReasons == [.user])
        #expect(!steps.all.contains("sent"))
        task.resume()
        #expect(await task.outcome().response?.statusCode == 200)
        #expect(steps.all.contains("sent"))
    }

    @Test("a suspension on the loop's thread that overtakes a resumption holds a task that has begun")
    func between() async throws {
        let lab = try await Lab()
        let task = try lab.manager.dataTask(with: lab.request("/", at: .silent))
        task.resume()
        task.suspend()
        try await overtake(lab) {
            task.resume()
        } by: {
            task.suspend()
        }
        #expect(task.state == .suspended)
        #expect(task.holdReasons == [.user])
        // The other way round, it runs.
        try await overtake(lab) {
            task.resume()
            task.suspend()
        } by: {
            task.resume()
        }
        #expect(task.state == .running)
        #expect(task.holdReasons == [])
        task.cancel()
        #expect(await task.outcome().error?.code == .cancelled)
    }

    @Test(
        "UPL-514 what is suspended before it is connected sends nothing until it is resumed",
        .timeLimit(.minutes(2)), arguments: [OriginListener.http, .https], [false, true])
    func unconnected(_ listener: OriginListener, isSecond: Bool) async throws {
        let lab = try await Lab()
        lab.trustOrigin()
        let key = "upl514-\(listener.rawValue)-\(isSecond)"
        // libcurl's handle of the first one is used again, with what it has counted.
        if isSecond { _ = try await lab.run(lab.request("/get", at: listener)) }
        let body = RequestBody.data(Data("once".utf8))
        let task = try lab.manager.dataTask(
            with: lab.request("/post?key=\(key)", .post, at: listener, body: body))
        // On the loop, which connects when this returns.
        await withTaskExecutorPreference(try lab.manager.transferExecutor) {
            task.resume()
            task.suspend()
        }
        // These connect later.
        for _ in 0..<3 {
            #expect(try await lab.run(lab.request("/get", at: listener)).response?.statusCode == 200)
        }
        #expect(try await lab.origin.statistics(key).count == 0)
        task.resume()
        #expect(await task.outcome().response?.statusCode == 200)
        #expect(try await lab.origin.statistics(key).count == 1)
    }

    @Test(
        "UPL-514 a handshake is given up, and made anew after the suspension", .timeLimit(.minutes(2)))
    func handshake() async throws {
        let origin = try await TestSupport.Origin.shared
        let port = try await SwitchedPort(to: origin.port(.silent))
        let lab = try await Lab { $0.hostAddresses = ["origin.test:\(port.port):127.0.0.1"] }
        lab.trustOrigin()
        let task = try lab.manager.dataTask(with: SessionRequest("https://origin.test:\(port.port)/get"))
        task.resume()
        while port.count == 0 { await Task.yield() }
        task.suspend()
        // Resumed before the loop knows of it, it would not have been suspended.
        let queue = try lab.manager.transferQueue
        await withCheckedContinuation { continuation in queue.submit { continuation.resume() } }
        port.lead(to: origin.port(.https))
        task.resume()
        #expect(await task.outcome().response?.statusCode == 200)
        #expect(port.count == 2)
    }

    @Test(
        "a body that goes on while its task is suspended: the time-out holds again afterwards",
        .timeLimit(.minutes(10)))
    func waitingBody() async throws {
        let lab = try await Lab()
        let waiting = Box<@Sendable () -> Void>()
        let source = LateBody(waiting)
        var request = try lab.request("/", .post, at: .silent, body: .stream(source))
        // Longer than a busy machine needs to connect: the body would never be asked for otherwise.
        request.options.timeoutInterval = .seconds(5)
        let task = try lab.manager.uploadTask(withStreamedRequest: request)
        task.resume()
        let callback = await waiting.value
        task.suspend()
        source.isThere.store(true, ordering: .releasing)
        callback()
        task.resume()
        #expect(await task.outcome().error?.code == .timedOut)
    }
}

/// A body that is there later.
private final class LateBody: BodySource {
    let length: Int64? = 5
    let isRewindable = false
    let isThere = Atomic<Bool>(false)
    /// For what its reader is to call; let go of with that, which holds the task and so this body.
    let waiting: Mutex<Box<@Sendable () -> Void>?>

    init(_ waiting: Box<@Sendable () -> Void>) { self.waiting = Mutex(waiting) }

    func makeReader() -> any BodyReader { Reader(self) }

    private final class Reader: BodyReader {
        private let source: LateBody
        private var hasGone = false
        init(_ source: LateBody) { self.source = source }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
            guard source.isThere.load(ordering: .acquiring) else { return .notYet }
            if hasGone { return .end }
            hasGone = true
            buffer.copyBytes(from: "there".utf8)
            return .bytes(5)
        }

        func whenReadable(_ callback: @escaping @Sendable () -> Void) {
            source.waiting.withLock { $0.take() }?.put(callback)
        }
    }
}
