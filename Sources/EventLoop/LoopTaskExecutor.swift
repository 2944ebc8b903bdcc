// SPDX-License-Identifier: Apache-2.0

/// Runs tasks that prefer it on a reactor's thread (SE-0417).
///
/// A task that mostly waits for what the loop brings then never changes threads. Whatever it does between two waits holds
/// up everything else on the loop.
package final class LoopTaskExecutor: TaskExecutor {
    private let reactor: Reactor

    package init(_ reactor: Reactor) { self.reactor = reactor }

    package func enqueue(_ job: consuming ExecutorJob) {
        reactor.post(.taskJob(UnownedJob(job), self))
    }
}
