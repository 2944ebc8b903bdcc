// SPDX-License-Identifier: Apache-2.0

import Synchronization

extension Reactor: SerialExecutor {
    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    /// Runs an actor's job, in order.
    package func enqueue(_ job: consuming ExecutorJob) { post(.job(UnownedJob(job))) }

    /// Runs `work` on the loop's thread, in order with jobs.
    ///
    /// Called from any thread. On the loop's own thread, and while the loop is awake, it costs no system
    /// call; else the first of several calls wakes the loop. Called on the loop's thread, it runs with the
    /// next turn.
    package func perform(_ work: @escaping @Sendable () -> Void) { post(.work(work)) }

    /// Lets `assumeIsolated` succeed in handlers, which run on the thread but not as a job.
    package func checkIsolated() {
        precondition(isCurrent, "not on the reactor's thread")
    }

    package func isIsolatingCurrentContext() -> Bool? { isCurrent }

    func post(_ item: CrossThreadQueue.Item) {
        loop.perform(loop.queue.withLock { $0.post(item, to: self) })
    }
}

/// Runs tasks that prefer it on a reactor's thread (SE-0417).
///
/// A task that mostly waits for events of the loop then never changes threads. Its work between two waits
/// delays everything else on the loop.
package final class LoopTaskExecutor: TaskExecutor {
    private let reactor: Reactor

    package init(_ reactor: Reactor) { self.reactor = reactor }

    package func enqueue(_ job: consuming ExecutorJob) {
        reactor.post(.taskJob(UnownedJob(job), self))
    }
}
