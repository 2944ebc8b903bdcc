// SPDX-License-Identifier: Apache-2.0

/// Work that other threads have handed to a loop, in order, and whether the loop sleeps.
struct CrossThreadQueue: Sendable {
    enum Item: Sendable {
        case job(UnownedJob)
        case taskJob(UnownedJob, LoopTaskExecutor)
        case work(@Sendable () -> Void)
        /// An item that has run.
        case done
    }

    private enum Phase {
        case running
        /// Waiting in the kernel: the next post wakes the loop.
        case asleep
        /// A stop was requested.
        case stopping
        /// The thread has ended.
        case ended
        /// The thread has ended, and a helper thread runs late items.
        case helped
    }

    /// What the posting or stopping thread has to do.
    enum Wakeup {
        case nothing, wake, help
    }

    /// What the loop does after a turn.
    enum NextStep {
        case sleep, proceed, end
    }

    private var items: [Item] = []
    private var phase = Phase.running
    /// Retains the reactor while the queue has items, since jobs do not retain their executor.
    private var retained: Reactor?

    var isEmpty: Bool { items.isEmpty }

    mutating func post(_ item: Item, to reactor: Reactor) -> Wakeup {
        items.append(item)
        if retained == nil { retained = reactor }
        switch phase {
        case .running, .stopping, .helped: return .nothing
        case .asleep:
            phase = .running
            return .wake
        case .ended:
            phase = .helped
            return .help
        }
    }

    /// Moves all items into `batch`, whose empty storage becomes the queue's; returns the retained reactor.
    mutating func drain(into batch: inout [Item]) -> Reactor? {
        swap(&batch, &items)
        if phase == .asleep { phase = .running }
        return retained.take()
    }

    /// Decides whether the loop may sleep, and marks it as asleep then.
    mutating func nextStep() -> NextStep {
        if !items.isEmpty { return .proceed }
        if phase == .stopping { return .end }
        phase = .asleep
        return .sleep
    }

    mutating func stop() -> Wakeup {
        switch phase {
        case .asleep:
            phase = .stopping
            return .wake
        case .running:
            phase = .stopping
            return .nothing
        case .stopping, .ended, .helped: return .nothing
        }
    }

    /// Marks the loop as ended; false if new items came in.
    mutating func end() -> Bool {
        guard items.isEmpty else { return false }
        phase = .ended
        return true
    }

    /// The helper thread could not be started; the next post tries again.
    mutating func helperFailed() { phase = .ended }
}
