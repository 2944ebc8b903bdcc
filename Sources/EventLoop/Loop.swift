// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Synchronization

/// What a reactor's thread runs.
///
/// The thread owns this object and not the reactor, so that a forgotten reactor goes away and ends its thread.
final class Loop: Sendable {
    /// The tag of the descriptor that wakes the loop: no descriptor has this number.
    private static let wakeTag = UInt64.max
    /// So many times a turn goes on with new letters before it looks at descriptors and timers again.
    private static let rounds = 8

    let mailbox = Mutex(Mailbox())
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
        // Edge-triggered, so that nobody has to read it: every write is an edge, and 2^64 of them never come.
        let failure = state.poller.control(
            EPOLL_CTL_ADD, wakeup.number, mask: UInt32(CLINUX_EPOLLIN) | CLINUX_EPOLLET, tag: Self.wakeTag)
        guard failure == 0 else { throw ReactorError("epoll_ctl", errno: failure) }
        confined = Confined(value: state)
    }

    /// Whether the calling thread may touch the state.
    var isCurrent: Bool { owner.load(ordering: .relaxed) == clinux_current_thread() }

    /// The state; only for the loop's thread.
    var state: LoopState {
        assert(isCurrent, "only on the reactor's thread")
        return confined.value
    }

    /// The thread's body.
    func run() {
        owner.store(clinux_current_thread(), ordering: .relaxed)
        let state = state
        var letters: [Mailbox.Letter] = []
        while true {
            turns.add(1, ordering: .relaxed)
            run(&letters)
            state.fireTimers()
            let rest = finishTurn(state, &letters)
            let hasRefused = state.tellKernel()
            switch rest {
            case .sleep: state.wait(forever: !hasRefused)
            case .goOn: state.wait(forever: false)
            case .end:
                // What the handlers held may post letters on its way out.
                state.close()
                if mailbox.withLock({ end(&$0) }) { return }
            }
        }
    }

    /// Runs the hooks, and what they hand to this very thread: above all the next request of a chain, which mostly takes changes back
    /// before the kernel hears of them.
    ///
    /// What letters post is for the next turn.
    private func finishTurn(_ state: LoopState, _ letters: inout [Mailbox.Letter]) -> Mailbox.Rest {
        for _ in 0..<Self.rounds {
            let isFromHooks = mailbox.withLock { $0.isEmpty }
            state.runHooks()
            let rest = mailbox.withLock { $0.rest() }
            guard isFromHooks, rest == .goOn else { return rest }
            run(&letters)
        }
        state.runHooks()
        return mailbox.withLock { $0.rest() }
    }

    /// Runs on a thread of its own what came after the end, so that no task waits for ever.
    func help() {
        let helper = try? LoopThread.start(name: name) { [self] in
            owner.store(clinux_current_thread(), ordering: .relaxed)
            var letters: [Mailbox.Letter] = []
            repeat { run(&letters) } while !mailbox.withLock { end(&$0) }
        }
        guard let helper else { return mailbox.withLock { $0.helperFailed() } }
        helper.detach()
    }

    /// Does what a sender's letter or a stop demands.
    func fulfil(_ duty: Mailbox.Duty) {
        switch duty {
        case .nothing: break
        case .wake:
            wakeUps.add(1, ordering: .relaxed)
            var one: UInt64 = 1
            _ = write(wakeup.number, &one, MemoryLayout<UInt64>.size)
        case .help: help()
        }
    }

    private func end(_ box: inout Mailbox) -> Bool {
        guard box.end() else { return false }
        owner.store(0, ordering: .relaxed)
        return true
    }

    /// Runs what is in the mailbox; the storage goes back and forth between the two.
    private func run(_ letters: inout [Mailbox.Letter]) {
        guard let reactor = mailbox.withLock({ $0.take(&letters) }) else { return }
        let executor = reactor.asUnownedSerialExecutor()
        for index in letters.indices {
            // What a letter holds goes with it, not with the last of its batch.
            switch exchange(&letters[index], with: .read) {
            case .read: break
            case .job(let job): job.runSynchronously(on: executor)
            case .taskJob(let job, let preference):
                job.runSynchronously(on: preference.asUnownedTaskExecutor())
            case .work(let work): work()
            }
        }
        // One by one: they are few, and `removeAll(keepingCapacity:)` is much code for that.
        while !letters.isEmpty { letters.removeLast() }
        withExtendedLifetime(reactor) {}
    }
}
