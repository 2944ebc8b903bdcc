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

    package var waitCount: Int { waiters.count + followers.count }

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
                guard let self, let waiter, let context = self.context else { return }
                Self.timedOut(
                    OutboxID(rawValue: number), outbox, LoopBound(self, to: context.reactor),
                    LoopBound(waiter, to: context.reactor), on: executor)
            }
        }
    }

    /// Says why the entry still waits, and how much of it was sent.
    private static func timedOut(
        _ entry: OutboxID, _ outbox: RequestOutbox, _ here: LoopBound<OutboxService>,
        _ waiter: LoopBound<Waiter>, on executor: LoopTaskExecutor?
    ) {
        Task(executorPreference: executor) {
            let (found, sent) = (try? await outbox.entry(entry), try? await outbox.sentBytes(of: entry))
            var text = "request \(entry) is still in the outbox"
            if let hold = found?.hold { text += ": \(hold)" }
            if let found, let sent, sent > 0 { text += "; \(sent) of \(found.bodySize) bytes were sent" }
            here.perform { [text] service in waiter.here { service.settled($0, .timedOut(text)) } }
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
        do {
            let settlement = try await outbox.settlement(of: entry)
            let answer =
                if case .dead = settlement { try await outbox.reply(to: entry) } else { OutboxReply?.none }
            return reply(settlement, answer, "\(entry)")
        } catch {
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
        followers.removeValue(forKey: id)?.observation?.cancel()
        guard let waiter = waiters.removeValue(forKey: id) else { return }
        waiter.task?.cancel()
        if let timer = waiter.timer { context?.reactor.cancel(timer) }
    }

    private static func reply(_ settlement: OutboxSettlement, _ answer: OutboxReply?, _ entry: String)
        -> VarlinkReply
    {
        switch settlement {
        case .left(let result):
            VarlinkReply([
                "outcome": .string(result.outcome.rawValue),
                "statusCode": result.statusCode.map { .integer(Int64($0)) } ?? .null, "failure": .null,
                "lastError": .null,
                "successor": result.successor.map { .string("\($0)") } ?? .null,
                "answer": result.reply.map(\.json) ?? .null,
                "file": result.file.map { .string($0) } ?? .null,
                "bytes": result.fileSize.map { .integer($0) } ?? .null,
            ])
        case .dead(let entry):
            VarlinkReply([
                "outcome": "dead",
                "statusCode": entry.failure?.statusCode.map { .integer(Int64($0)) } ?? .null,
                "failure": entry.failure.map { .string($0.kind.rawValue) } ?? .null,
                "lastError": entry.failure.map { .string($0.message) } ?? .null, "successor": .null,
                "answer": answer.map(\.json) ?? .null, "file": .null, "bytes": .null,
            ])
        case .unknown: .noSuchEntry(entry)
        }
    }
}
