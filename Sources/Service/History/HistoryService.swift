// SPDX-License-Identifier: Apache-2.0

import CLinux
package import EventLoop
package import ReachabilityCore
package import ServiceCore
import Storage

/// Stores every committed change in the history's file, off the loop.
///
/// Changes during a write wait and are stored together, and so do changes that the disk has refused: without
/// them the history would show an outage as reachable time. Above ``limit`` waiting changes the oldest are
/// dropped and counted.
package final class HistoryService: ServiceComponent {
    package let name = "history"
    /// The most changes that wait for the disk.
    package static let limit = 1024
    /// The interval between signs of life while nothing happens; the loop wakes up anyway, without a timer.
    static let beatInterval: Int64 = 290_000_000_000

    private let settings: ServiceConfiguration.History
    private let files: Reactor
    private let counters: ServiceCounters
    private(set) var context: ServiceContext?
    private(set) var writer: LoopBound<HistoryWriter>?
    private var pending: [HistoryRecord] = []
    private var internet = InternetHistory()
    /// The number of queries that wait for the disk.
    var queries = 0
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
        add([HistoryRecord(change, run: 0, boot: clinux_boot_nanoseconds())])
        // Without a path there is no internet behind it.
        if change.internet != nil { internetChanged(change) }
    }

    package func internetChanged(_ change: CommittedChange) {
        guard let context else { return }
        add(internet.records(change, wall: context.wallClock(), boot: clinux_boot_nanoseconds()))
    }

    private func add(_ records: [HistoryRecord]) {
        guard !records.isEmpty else { return }
        pending += records
        dropOldest()
        if !isWriting { writePending() }
    }

    private func dropOldest() {
        let surplus = pending.count - Self.limit
        guard surplus > 0 else { return }
        pending.removeFirst(surplus)
        counters.historySkipped += UInt64(surplus)
    }

    /// Returns failed changes to the queue for the next attempt; at the end there is none.
    private func requeue(_ records: [HistoryRecord]) {
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

    /// Passes changes to the thread for files; without any they are a sign of life.
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
        for message in outcome.notes { context?.log(.warning, "history: \(message)") }
        // A change after a failure causes another attempt; the failure itself does not.
        let hasMore = !pending.isEmpty
        if let problem = outcome.problem {
            if !isFailing { context?.log(.error, "history: \(problem)") }
            if !outcome.hasStored { requeue(records) }
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

/// Answers queries of clients, on the thread for files, after the changes written before.
extension HistoryService: HistoryAnswering {
    /// The maximum of queries that wait for the disk: each delays later writes.
    package static let queryLimit = 8

    package func answerHistory(since: WallTime?, limit: Int, _ answer: @escaping (VarlinkReply) -> Void) {
        guard let context, let writer else { return answer(.unavailable("the service ends")) }
        guard queries < Self.queryLimit else {
            return answer(.limit("\(Self.queryLimit) clients wait for the history already"))
        }
        queries += 1
        let now = context.wallClock()
        let from = since ?? now + .seconds(-86_400)
        let client = LoopBound(
            LoopCallback<VarlinkReply> { [self] reply in
                queries -= 1
                answer(reply)
            }, to: context.reactor)
        writer.perform { writer in
            let reply = writer.periods(from: from, to: now, limit: limit)
            client.perform { $0.call(reply) }
        }
    }
}
