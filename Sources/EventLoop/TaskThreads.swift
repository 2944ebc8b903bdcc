// SPDX-License-Identifier: Apache-2.0

import CRuntime
import Glibc
import Synchronization

/// Runs Swift's tasks on threads of its own, in place of libdispatch's pool.
///
/// libdispatch waits for ever where it cannot start a thread (RLIMIT_NPROC, pids.max, RLIMIT_AS), and ends the process
/// where it cannot open its epoll(7) instance (RLIMIT_NOFILE). These threads need no descriptor, and ``reserve()`` says
/// why there is none. Only for a program: a library must not decide this for the process.
///
/// Jobs run in the order in which they come; priorities are ignored.
package final class TaskThreads: Sendable {
    private struct State {
        /// Jobs from `first` on wait.
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

    private enum Duty {
        case nothing, wake, start
    }

    private static let installed = Mutex<TaskThreads?>(nil)

    private let limit: Int
    private let state = Mutex(State())
    /// Counts wake-ups.
    ///
    /// Unsafe because the compiler does not know that sem_post(3) and sem_wait(3) may be called by any thread.
    private nonisolated(unsafe) let bell: UnsafeMutablePointer<sem_t>

    /// - Parameter limit: the number of threads; more than one, for a job may block.
    package init(limit: Int) {
        self.limit = max(2, limit)
        bell = .allocate(capacity: 1)
        sem_init(bell, 0, 0)
    }

    /// Takes all tasks of the process; to be called before the first one.
    package static func install() {
        let cores = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let threads = TaskThreads(limit: min(cores, 4))
        installed.withLock { $0 = threads }
        // Never released: tasks may run until the process ends.
        common = Unmanaged.passRetained(threads)
        cruntime_take_jobs { job in
            guard let job, let common = TaskThreads.common else { return }
            // UnownedJob is this very pointer (Executor.swift).
            common.takeUnretainedValue().add(unsafeBitCast(job, to: UnownedJob.self))
        }
    }

    /// The one that has taken them; read without a lock, for it is written once, before the first task.
    private nonisolated(unsafe) static var common: Unmanaged<TaskThreads>?

    /// Makes sure that there is a thread for tasks, where this has taken them.
    ///
    /// - Throws: why none can be started.
    package static func reserve() throws(ReactorError) {
        guard let threads = installed.withLock({ $0 }) else { return }
        try threads.reserve()
    }

    package func reserve() throws(ReactorError) {
        let isFirst = state.withLock { state in
            guard state.threads == 0 else { return false }
            state.threads = 1
            return true
        }
        if isFirst { try start() }
    }

    /// Runs a job, on a thread of these.
    package func add(_ job: UnownedJob) {
        let duty = state.withLock { state -> Duty in
            state.jobs.append(job)
            if state.idle > 0 {
                state.idle -= 1
                return .wake
            }
            guard state.threads < limit else { return .nothing }
            state.threads += 1
            return .start
        }
        switch duty {
        case .nothing: break
        case .wake: sem_post(bell)
        case .start: if (try? start()) == nil { lend() }
        }
    }

    /// Starts a thread that has been counted.
    private func start() throws(ReactorError) {
        do throws(ReactorError) {
            try LoopThread.start(name: "reach-tasks") { [self] in work() }.detach()
        } catch {
            state.withLock { $0.threads -= 1 }
            throw error
        }
    }

    /// Has the shared loop's thread run what waits, where there is no thread for it.
    private func lend() {
        guard state.withLock({ $0.threads == 0 }), let reactor = try? Reactor.shared else { return }
        reactor.perform { [self] in
            while let job = state.withLock({ $0.threads == 0 ? $0.next() : nil }) { run(job) }
        }
    }

    private func work() {
        while true {
            let job = state.withLock { state -> UnownedJob? in
                guard let job = state.next() else {
                    state.idle += 1
                    return nil
                }
                return job
            }
            guard let job else {
                while sem_wait(bell) != 0 {}
                continue
            }
            run(job)
        }
    }

    // As the default executor does: a job that was run on a task executor would be queued again at its next switch.
    private func run(_ job: UnownedJob) {
        cruntime_run_job(unsafeBitCast(job, to: UnsafeMutableRawPointer.self))
    }
}
