// SPDX-License-Identifier: Apache-2.0

import CRuntime
import Glibc
import Synchronization

/// Runs Swift's tasks in order on threads of its own, ignoring priorities, in place of libdispatch's pool.
///
/// libdispatch hangs where it cannot start a thread (RLIMIT_NPROC, pids.max, RLIMIT_AS), and ends the process
/// where it cannot open its epoll(7) instance (RLIMIT_NOFILE). These threads need no descriptor, and
/// ``reserve()`` throws the reason if none can be started. For programs, not for libraries.
package final class TaskThreads: Sendable {
    private struct State {
        /// Jobs before `first` have run.
        var jobs: [UnownedJob] = []
        var first = 0
        var threads = 0
        /// Threads that sleep and have not been woken yet.
        var idle = 0

        mutating func next() -> UnownedJob? {
            guard first < jobs.count else { return nil }
            defer {
                first += 1
                if first == jobs.count {
                    jobs.removeAll(keepingCapacity: true)
                    first = 0
                }
            }
            return jobs[first]
        }
    }

    private enum Wakeup {
        case nothing, wake, start
    }

    private static let installed = Mutex<TaskThreads?>(nil)

    private let limit: Int
    private let state = Mutex(State())
    /// Counts wake-ups; unsafe in name only, since any thread may call sem_post(3) and sem_wait(3).
    private nonisolated(unsafe) let bell: UnsafeMutablePointer<sem_t>

    /// - Parameter limit: the number of threads; more than one, since a job may block.
    package init(limit: Int) {
        self.limit = max(2, limit)
        bell = .allocate(capacity: 1)
        sem_init(bell, 0, 0)
    }

    /// Replaces the executor of all tasks of the process; called before the first task.
    package static func install() {
        let cores = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let threads = TaskThreads(limit: min(cores, 4))
        installed.withLock { $0 = threads }
        // Never released: tasks may run until the process ends.
        common = Unmanaged.passRetained(threads)
        cruntime_redirect_jobs { job in
            guard let job, let common = TaskThreads.common else { return }
            // UnownedJob is this pointer (Executor.swift).
            common.takeUnretainedValue().add(unsafeBitCast(job, to: UnownedJob.self))
        }
    }

    /// The installed instance; read without a lock, since it is written once, before the first task.
    private nonisolated(unsafe) static var common: Unmanaged<TaskThreads>?

    /// Makes sure that one thread runs, if an instance is installed; throws why none can be started.
    package static func reserve() throws(ReactorError) { try installed.withLock({ $0 })?.reserve() }

    package func reserve() throws(ReactorError) {
        let isFirst = state.withLock { state in
            guard state.threads == 0 else { return false }
            state.threads = 1
            return true
        }
        if isFirst { try start() }
    }

    /// Queues a job for one of the threads.
    package func add(_ job: UnownedJob) {
        let wakeup = state.withLock { state -> Wakeup in
            state.jobs.append(job)
            if state.idle > 0 {
                state.idle -= 1
                return .wake
            }
            guard state.threads < limit else { return .nothing }
            state.threads += 1
            return .start
        }
        switch wakeup {
        case .nothing: break
        case .wake: sem_post(bell)
        case .start: if (try? start()) == nil { lend() }
        }
    }

    /// Starts a thread that has been counted already.
    private func start() throws(ReactorError) {
        do throws(ReactorError) {
            try LoopThread.start(name: "reach-tasks") { [self] in work() }.detach()
        } catch {
            state.withLock { $0.threads -= 1 }
            throw error
        }
    }

    /// Runs waiting jobs on the shared loop's thread if no thread can be started.
    private func lend() {
        guard state.withLock({ $0.threads == 0 }), let reactor = try? Reactor.shared else { return }
        reactor.perform { [self] in
            while let job = state.withLock({ $0.threads == 0 ? $0.next() : nil }) { run(job) }
        }
    }

    private func work() {
        while true {
            let job = state.withLock { state in
                let job = state.next()
                if job == nil { state.idle += 1 }
                return job
            }
            guard let job else {
                while sem_wait(bell) != 0 {}
                continue
            }
            run(job)
        }
    }

    // As the default executor does: a job run on a task executor would be queued again at its next switch.
    // The job is the pointer that the runtime gave (Executor.swift).
    private func run(_ job: UnownedJob) {
        cruntime_run_job(unsafeBitCast(job, to: UnsafeMutableRawPointer.self))
    }
}
