// SPDX-License-Identifier: Apache-2.0

import CLinux
package import EventLoop
package import ReachabilityCore
package import ServiceCore
import Storage

/// Keeps every committed change in the history's file, off the loop.
///
/// Changes that come while the disk is at work wait and are written together, and so do those that it has
/// refused, a full one for instance: else the history would tell an outage as time in which all was well.
/// Where more than ``limit`` wait, the oldest of them are dropped and counted: the newest state is always
/// kept, and nothing grows.
package final class HistoryService: ServiceComponent {
    package let name = "history"
    /// So many changes wait for the disk at most.
    package static let limit = 1024
    /// How often a sign of life is written while nothing happens.
    ///
    /// No timer is set for it: the loop wakes up for the watchdog or the safety re-check anyway.
    static let beatInterval: Int64 = 290_000_000_000

    private let settings: ServiceConfiguration.History
    private let files: Reactor
    private let counters: ServiceCounters
    private(set) var context: ServiceContext?
    private(set) var writer: LoopBound<HistoryWriter>?
    private var pending: [HistoryRecord] = []
    /// How many callers wait for what they have asked of the history.
    var questions = 0
    private var isWriting = false
    private var isFailing = false
    private var lastWrite: Int64 = 0
    private var hook: HookID?
    private var end: (() -> Void)?

    package init(_ settings: ServiceConfiguration.History, files: Reactor, counters: ServiceCounters) {
        self.settings = settings
        self.files = files
        self.counters = counters
    }

    package func start(_ context: ServiceContext) throws(ServiceError) {
        self.context = context
        writer = LoopBound(HistoryWriter(in: context.stateDirectory, settings), to: files)
        lastWrite = Reactor.now
        write([])
        hook = context.reactor.beforeWait { [weak self] in self?.beat() }
    }

    package func statusChanged(_ change: CommittedChange) {
        pending.append(HistoryRecord(change, run: 0, boot: clinux_boot_nanoseconds()))
        dropOldest()
        if !isWriting { writePending() }
    }

    private func dropOldest() {
        let surplus = pending.count - Self.limit
        guard surplus > 0 else { return }
        pending.removeFirst(surplus)
        counters.historySkipped += UInt64(surplus)
    }

    /// They wait for the next try; at the end there is none.
    private func takeBack(_ records: [HistoryRecord]) {
        if hasEnded { return counters.historySkipped += UInt64(records.count) }
        pending = records + pending
        dropOldest()
    }

    private func writePending(isEnd: Bool = false) {
        let records = pending
        pending = []
        write(records, isEnd: isEnd)
    }

    private func beat() {
        guard !isWriting, Reactor.now - lastWrite >= Self.beatInterval else { return }
        writePending()
    }

    /// Hands changes to the thread for files; none are a sign of life.
    private func write(_ records: [HistoryRecord], isEnd: Bool = false) {
        guard let context, let writer else { return }
        isWriting = true
        lastWrite = Reactor.now
        let (wall, boot) = (context.wallClock(), clinux_boot_nanoseconds())
        let bound = LoopBound(self, to: context.reactor)
        writer.perform { writer in
            let outcome = writer.write(records, at: wall, boot: boot, isEnd: isEnd)
            bound.perform { $0.written(outcome, records) }
        }
    }

    private func written(_ outcome: HistoryWriter.Outcome, _ records: [HistoryRecord]) {
        isWriting = false
        for note in outcome.notes { context?.log(.warning, "history: \(note)") }
        // What comes after a failure is a reason to try again; the failure itself is none.
        let hasMore = !pending.isEmpty
        if let problem = outcome.problem {
            if !isFailing { context?.log(.error, "history: \(problem)") }
            if !outcome.hasStored { takeBack(records) }
        } else if isFailing {
            context?.log(.notice, "history: changes are kept again")
        }
        isFailing = outcome.problem != nil
        if hasMore { return writePending() }
        finish()
    }

    package var stateLine: String? { "\(pending.count) changes wait, \(counters.historySkipped) dropped" }

    package func stop(_ done: @escaping () -> Void) {
        if let hook { context?.reactor.removeHook(hook) }
        guard context != nil else { return done() }
        end = done
        if !isWriting { finish() }
    }

    private var hasEnded = false

    private func finish() {
        guard let end else { return }
        if hasEnded {
            self.end = nil
            context = nil
            return end()
        }
        hasEnded = true
        writePending(isEnd: true)
    }
}

/// What clients ask of the history: read on the thread for files, behind what has been written before.
extension HistoryService: HistoryAnswering {
    /// The maximum of queries that wait for the disk: each delays later writes.
    package static let questionLimit = 8

    package func answerHistory(since: WallTime?, limit: Int, _ answer: @escaping (VarlinkReply) -> Void) {
        guard let context, let writer else { return answer(.unavailable("the service ends")) }
        guard questions < Self.questionLimit else {
            return answer(.limit("\(Self.questionLimit) clients wait for the history already"))
        }
        questions += 1
        let now = context.wallClock()
        let from = since ?? now + .seconds(-86_400)
        let question = LoopBound(Question(self, answer), to: context.reactor)
        writer.perform { writer in
            let reply = writer.periods(from: from, to: now, limit: limit)
            question.perform { $0.ended(reply) }
        }
    }

    /// A query of a client.
    private final class Question {
        private let service: HistoryService
        private let answer: (VarlinkReply) -> Void

        init(_ service: HistoryService, _ answer: @escaping (VarlinkReply) -> Void) {
            (self.service, self.answer) = (service, answer)
        }

        func ended(_ reply: VarlinkReply) {
            service.questions -= 1
            answer(reply)
        }
    }
}
