// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import SessionCore
import SessionManager
import Synchronization
import TestSupport
import Testing

/// Tasks and blocks on the thread that transfers.
struct TransferThreadTests {
    @Test("a Swift task that prefers it stays there, whatever it waits for")
    func executor() async throws {
        let lab = try await Lab()
        let thread = try Reactor.shared
        let request = try lab.request("/bytes/100")
        try await withTaskExecutorPreference(lab.manager.transferExecutor) {
            #expect(thread.isCurrent)
            for _ in 0..<3 {
                let (data, _) = try await lab.manager.data(for: request)
                #expect(data.count == 100)
                #expect(thread.isCurrent)
            }
        }
        #expect(!thread.isCurrent)
    }

    @Test("blocks are called there one after the other, and make the next tasks")
    func blocks() async throws {
        let lab = try await Lab()
        lab.manager.completionQueue = try lab.manager.transferQueue
        let chain = Chain(lab.manager, try lab.request("/bytes/100"), try Reactor.shared, length: 50)
        for _ in 0..<4 { chain.next() }
        #expect(await chain.end.value)
    }

    @Test(
        "what came is the same on that thread, on another and in a block, byte for byte",
        arguments: [0, 100, 16 << 10, 16 << 10 + 1])
    func sameEverywhere(_ count: Int) async throws {
        let lab = try await Lab()
        let request = try lab.request("/bytes/\(count)")
        let there = try await withTaskExecutorPreference(lab.manager.transferExecutor) {
            try await lab.manager.data(for: request)
        }
        // Beside a task that goes on: what has been read goes back to the thread then.
        let silent = try lab.manager.dataTask(with: lab.request("/", at: .silent)) { _, _, _ in }
        silent.resume()
        defer { silent.cancel() }
        lab.manager.responseSerializer = DataResponseSerializer()
        for _ in 0..<20 {
            let here = try await lab.manager.data(for: request)
            #expect(here.0 == there.0)
            #expect(here.0.count == count)
            #expect(here.1.facts == there.1.facts)
            let inBlock = Box<(Data?, SessionResponse?)>()
            let task = try lab.manager.dataTask(with: request) { response, object, _ in
                inBlock.put((object as? Data, response))
            }
            task.resume()
            let (data, response) = await inBlock.value
            #expect(data ?? Data() == there.0)
            #expect(response?.facts == there.1.facts)
            // What the task itself says is not taken away.
            #expect(task.response?.facts == there.1.facts)
            #expect(task.metrics.count == 1)
        }
    }

    @Test("a block is not called inside a call of the one before it")
    func reentrance() async throws {
        let lab = try await Lab()
        let queue = try lab.manager.transferQueue
        lab.manager.completionQueue = queue
        let order = Mutex<[String]>([])
        let done = Box<Bool>()
        let silent = try lab.manager.dataTask(with: lab.request("/", at: .silent)) { _, _, error in
            order.withLock { $0.append("\(error?.code == .cancelled ? "cancelled" : "ended")") }
            done.put(true)
        }
        silent.resume()
        queue.submit {
            order.withLock { $0.append("before") }
            silent.cancel()
            order.withLock { $0.append("after") }
        }
        _ = await done.value
        #expect(order.withLock { $0 } == ["before", "after", "cancelled"])
    }
}

extension SessionResponse {
    /// All that does not differ from one answer to the next.
    fileprivate var facts: [String] {
        let fields = headerFields.filter { $0.name != .date }.map(\.description)
        return ["\(url)", "\(statusCode ?? 0)", "\(String(describing: version))"] + fields
    }
}

/// Tasks each of which is made by the block of the one before.
private final class Chain: Sendable {
    let end = Box<Bool>()
    private let manager: URLSessionManager
    private let request: SessionRequest
    private let thread: Reactor
    private let left: Atomic<Int>
    private let isInside = Atomic<Bool>(false)

    init(_ manager: URLSessionManager, _ request: SessionRequest, _ thread: Reactor, length: Int) {
        (self.manager, self.request, self.thread) = (manager, request, thread)
        left = Atomic(length)
    }

    func next() {
        let task = try? manager.dataTask(with: request) { [self] response, _, _ in
            let isAlone = !isInside.exchange(true, ordering: .relaxed)
            guard isAlone, thread.isCurrent, response?.statusCode == 200 else { return end.put(false) }
            if left.subtract(1, ordering: .relaxed).newValue == 0 { end.put(true) }
            if left.load(ordering: .relaxed) > 0 { next() }
            isInside.store(false, ordering: .relaxed)
        }
        task?.resume()
    }
}
