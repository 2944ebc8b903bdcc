// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Synchronization

/// The body of a reactor's thread; the thread owns it and not the reactor, so that a released reactor ends.
final class Loop: Sendable {
    /// The tag of the descriptor that wakes the loop; no descriptor has this number.
    private static let wakeTag = UInt64.max
    /// How often a turn continues with new items before it looks at descriptors and timers again.
    private static let rounds = 8

    let queue = Mutex(CrossThreadQueue())
    /// Turns so far: one for each return from the wait.
    let turns = Atomic<Int>(0)
    /// How often another thread had to wake the loop.
    let wakeUps = Atomic<Int>(0)
    private let name: String
    private let wakeup: OwnedDescriptor
    /// The thread that may touch the state (`clinux_current_thread`); 0 for none.
    private let owner = Atomic<UInt>(0)
    private let confined: Confined<LoopState>

    init(name: String) throws(ReactorError) {
        self.name = name
        wakeup = try OwnedDescriptor("eventfd", eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK)))
        let state = try LoopState()
        // Edge-triggered: each write is an edge, so the counter needs no reading, and it never overflows.
        let failure = state.poller.control(
            EPOLL_CTL_ADD, wakeup.number, mask: UInt32(CLINUX_EPOLLIN) | CLINUX_EPOLLET, tag: Self.wakeTag)
        guard failure == 0 else { throw ReactorError("epoll_ctl", errno: failure) }
        confined = Confined(value: state)
    }

    /// Whether the calling thread may touch the state.
    var isCurrent: Bool { owner.load(ordering: .relaxed) == clinux_current_thread() }

    /// The state; used on the loop's thread only.
    var state: LoopState {
        assert(isCurrent, "only on the reactor's thread")
        return confined.value
    }

    /// Runs turns until the loop ends.
    func run() {
        owner.store(clinux_current_thread(), ordering: .relaxed)
        let state = state
        var items: [CrossThreadQueue.Item] = []
        while true {
            turns.add(1, ordering: .relaxed)
            run(&items)
            state.fireTimers()
            let next = finishTurn(state, &items)
            let hasRefused = state.applyChanges()
            switch next {
            case .sleep: state.wait(forever: !hasRefused)
            case .proceed: state.wait(forever: false)
            case .end:
                // What the handlers own may post items when it is released.
                state.close()
                if queue.withLock({ end(&$0) }) { return }
            }
        }
    }

    /// Runs the hooks and the work that they post, such as the next request of a chain, which often undoes
    /// changes before the kernel sees them; items posted by that work run in the next turn.
    private func finishTurn(_ state: LoopState, _ items: inout [CrossThreadQueue.Item])
        -> CrossThreadQueue.NextStep
    {
        for _ in 0..<Self.rounds {
            let isFromHooks = queue.withLock { $0.isEmpty }
            state.runHooks()
            let next = queue.withLock { $0.nextStep() }
            guard isFromHooks, next == .proceed else { return next }
            run(&items)
        }
        state.runHooks()
        return queue.withLock { $0.nextStep() }
    }

    /// Runs items posted after the loop's end on a thread of its own, so that no task waits for ever.
    func help() {
        let helper = try? LoopThread.start(name: name) { [self] in
            owner.store(clinux_current_thread(), ordering: .relaxed)
            var items: [CrossThreadQueue.Item] = []
            repeat { run(&items) } while !queue.withLock { end(&$0) }
        }
        guard let helper else { return queue.withLock { $0.helperFailed() } }
        helper.detach()
    }

    /// Does what a post or a stop requires of the calling thread.
    func perform(_ step: CrossThreadQueue.Wakeup) {
        switch step {
        case .nothing: break
        case .wake:
            wakeUps.add(1, ordering: .relaxed)
            var one: UInt64 = 1
            _ = write(wakeup.number, &one, MemoryLayout<UInt64>.size)
        case .help: help()
        }
    }

    private func end(_ queue: inout CrossThreadQueue) -> Bool {
        guard queue.end() else { return false }
        owner.store(0, ordering: .relaxed)
        return true
    }

    /// Runs the items of the queue; both sides exchange their storage.
    private func run(_ items: inout [CrossThreadQueue.Item]) {
        guard let reactor = queue.withLock({ $0.drain(into: &items) }) else { return }
        let executor = reactor.asUnownedSerialExecutor()
        for index in items.indices {
            // Releases what an item owns right after it ran, and not with the whole batch.
            switch exchange(&items[index], with: .done) {
            case .done: break
            case .job(let job): job.runSynchronously(on: executor)
            case .taskJob(let job, let preference):
                job.runSynchronously(on: preference.asUnownedTaskExecutor())
            case .work(let work): work()
            }
        }
        // One by one: there are few, and `removeAll(keepingCapacity:)` is much code.
        while !items.isEmpty { items.removeLast() }
        withExtendedLifetime(reactor) {}
    }
}
