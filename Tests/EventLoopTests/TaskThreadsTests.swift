// SPDX-License-Identifier: Apache-2.0

import EventLoop
import TestSupport
import Testing

/// Threads that run Swift's tasks.
@Suite struct TaskThreadsTests {
    private final class Executor: TaskExecutor {
        let threads = TaskThreads(limit: 2)
        func enqueue(_ job: consuming ExecutorJob) { threads.add(UnownedJob(job)) }
    }

    @Test(
        "FLD-062 tasks run on threads of their own: more than there are threads, children and actors' turns too"
    )
    func runs() async throws {
        let executor = Executor()
        try executor.threads.reserve()
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                group.addTask(executorPreference: executor) {
                    await Task.yield()
                    async let other = number
                    return await other
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 199 * 100)
    }

    @Test("FLD-062 while a job blocks its thread, others continue")
    func blocks() async throws {
        let executor = Executor()
        let gate = try DescriptorPair()
        let number = gate.near.number
        let blocked = Task(executorPreference: executor) { blockUntilReadable(number) }
        await Task(executorPreference: executor) {}.value
        gate.signal()
        await blocked.value
        withExtendedLifetime(gate) {}
    }
}
