// SPDX-License-Identifier: Apache-2.0

/// What other threads have handed to a loop, in order, and who has to wake it.
struct Mailbox: Sendable {
    enum Letter: Sendable {
        case job(UnownedJob)
        case taskJob(UnownedJob, LoopTaskExecutor)
        case work(@Sendable () -> Void)
        /// One that has been run.
        case read
    }

    private enum Phase {
        case running
        /// Waiting in the kernel: the next letter has to wake it.
        case asleep
        /// Told to stop, not yet ended.
        case stopping
        /// The thread is gone.
        case ended
        /// The thread is gone and a helper runs what came late.
        case helped
    }

    /// What a letter's sender has to do.
    enum Duty {
        case nothing, wake, help
    }

    /// How a loop's turn goes on.
    enum Rest {
        case sleep, goOn, end
    }

    private var letters: [Letter] = []
    private var phase = Phase.running
    /// Keeps the reactor while it has letters, since jobs refer to their executor without owning it.
    private var keeper: Reactor?

    var isEmpty: Bool { letters.isEmpty }

    /// Puts a letter in.
    mutating func post(_ letter: Letter, to reactor: Reactor) -> Duty {
        letters.append(letter)
        if keeper == nil { keeper = reactor }
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

    /// Takes everything out; `batch` is empty and lends its storage.
    mutating func take(_ batch: inout [Letter]) -> Reactor? {
        swap(&batch, &letters)
        if phase == .asleep { phase = .running }
        return keeper.take()
    }

    /// Asks whether the loop may go to sleep.
    mutating func rest() -> Rest {
        if !letters.isEmpty { return .goOn }
        if phase == .stopping { return .end }
        phase = .asleep
        return .sleep
    }

    /// Asks for the end.
    mutating func stop() -> Duty {
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

    /// Ends, unless letters came in meanwhile.
    mutating func end() -> Bool {
        guard letters.isEmpty else { return false }
        phase = .ended
        return true
    }

    /// No helper could be started: the next letter tries again.
    mutating func helperFailed() { phase = .ended }
}
