// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Outbox
package import ServiceCore
import SessionCore

/// Clients that wait for the outcome of an entry.
extension OutboxService {
    /// A waiting client, on the loop's thread.
    final class Waiter {
        let id: ConnectionQuota.ID
        let answer: (VarlinkReply) -> Void
        var task: Task<Void, Never>?
        var timer: TimerID?

        init(_ id: ConnectionQuota.ID, _ answer: @escaping (VarlinkReply) -> Void) {
            self.id = id
            self.answer = answer
        }
    }

    package var waitCount: Int { waiters.count }

    package func waitForEntry(
        _ entry: String, timeout: Duration?, for id: ConnectionQuota.ID,
        _ answer: @escaping (VarlinkReply) -> Void
    ) {
        guard let context, case .open(let outbox) = phase else {
            return answer(.unavailable("the outbox is not open"))
        }
        guard let number = Int64(entry) else { return answer(.noSuchEntry(entry)) }
        forget(id)
        let waiter = Waiter(id, answer)
        waiters[id] = waiter
        waiter.task = Self.settlement(
            of: OutboxID(rawValue: number), outbox, LoopBound(self, to: context.reactor),
            LoopBound(waiter, to: context.reactor), on: executor)
        waiter.timer = timeout.map { timeout in
            context.reactor.schedule(at: Reactor.now + timeout.inNanoseconds) { [weak self, weak waiter] in
                guard let waiter else { return }
                self?.settled(waiter, .timedOut("request \(entry) is still in the outbox"))
            }
        }
    }

    private static func settlement(
        of entry: OutboxID, _ outbox: RequestOutbox, _ here: LoopBound<OutboxService>,
        _ waiter: LoopBound<Waiter>, on executor: LoopTaskExecutor?
    ) -> Task<Void, Never> {
        Task(executorPreference: executor) {
            let reply = await outcome(of: entry, outbox)
            here.perform { service in waiter.here { service.settled($0, reply) } }
        }
    }

    /// Nil if the wait was given up.
    private static func outcome(of entry: OutboxID, _ outbox: RequestOutbox) async -> VarlinkReply? {
        do { return reply(try await outbox.settlement(of: entry), "\(entry)") } catch {
            return error is CancellationError ? nil : .unavailable("\(error)")
        }
    }

    /// By now the client may wait for another entry, since the answer took a moment.
    private func settled(_ waiter: Waiter, _ reply: VarlinkReply?) {
        guard let reply, waiters[waiter.id] === waiter else { return }
        forget(waiter.id)
        waiter.answer(reply)
    }

    package func forget(_ id: ConnectionQuota.ID) {
        guard let waiter = waiters.removeValue(forKey: id) else { return }
        waiter.task?.cancel()
        if let timer = waiter.timer { context?.reactor.cancel(timer) }
    }

    private static func reply(_ settlement: OutboxSettlement, _ entry: String) -> VarlinkReply {
        switch settlement {
        case .left(let result):
            VarlinkReply([
                "outcome": .string(result.outcome.rawValue),
                "statusCode": result.statusCode.map { .integer(Int64($0)) } ?? .null, "failure": .null,
                "lastError": .null,
            ])
        case .dead(let entry):
            VarlinkReply([
                "outcome": "dead",
                "statusCode": entry.failure?.statusCode.map { .integer(Int64($0)) } ?? .null,
                "failure": entry.failure.map { .string($0.kind.rawValue) } ?? .null,
                "lastError": entry.failure.map { .string($0.message) } ?? .null,
            ])
        case .unknown: .noSuchEntry(entry)
        }
    }
}
