// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension Reactor {
    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    /// Runs an actor's job in its turn.
    package func enqueue(_ job: consuming ExecutorJob) { post(.job(UnownedJob(job))) }

    /// Runs `work` on the loop's thread, in order with jobs.
    ///
    /// From any thread. On the loop's own thread, or while the loop is awake, it costs no system call; the first of several from
    /// elsewhere wakes it. It runs with the next turn even when called from the loop's thread.
    package func perform(_ work: @escaping @Sendable () -> Void) { post(.work(work)) }

    /// Lets `assumeIsolated` succeed in handlers, which run on the thread but not as a job.
    package func checkIsolated() {
        precondition(isCurrent, "not on the reactor's thread")
    }

    package func isIsolatingCurrentContext() -> Bool? { isCurrent }

    func post(_ letter: Mailbox.Letter) {
        loop.fulfil(loop.mailbox.withLock { $0.post(letter, to: self) })
    }
}
