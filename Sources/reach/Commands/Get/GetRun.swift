// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionManager
import Synchronization

/// Runs the transfers of a `reach get` in their order, so many at once, each to its end.
final class GetRun: Sendable {
    private struct State {
        /// The number of the next that begins.
        var next = 0
        var running: Set<Int> = []
        /// Those that have ended and were not told yet.
        var news: [(number: Int, report: GetReport)] = []
        var workers = 0
        var isStopped = false
    }

    let transfers: [GetTransfer]
    private let failsEarly: Bool
    private let waiter: MainThreadWaiter
    private let state = Mutex(State())
    private let tasks = Mutex<[Task<Void, Never>]>([])

    /// - Parameter waiter: rung when one has ended, and finished after the last.
    init(_ transfers: [GetTransfer], failsEarly: Bool, waiter: MainThreadWaiter) {
        self.transfers = transfers
        self.failsEarly = failsEarly
        self.waiter = waiter
    }

    /// Begins with so many at once.
    func start(_ count: Int) {
        let count = min(count, transfers.count)
        state.withLock { $0.workers = count }
        let workers = (0..<count).map { _ in
            Task { [self] in
                while let number = next() {
                    let report = await transfers[number].run()
                    ended(number, report)
                }
                if state.withLock({ state in
                    state.workers -= 1
                    return state.workers == 0
                }) {
                    waiter.finish()
                }
            }
        }
        tasks.withLock { $0 = workers }
        // One may have failed before they were all known.
        if state.withLock({ $0.isStopped }) { stop() }
    }

    /// Begins no more, and ends those that run; what has come of them is kept.
    func stop() {
        state.withLock { $0.isStopped = true }
        for task in tasks.withLock({ $0 }) { task.cancel() }
        for transfer in transfers { transfer.output?.interrupt() }
    }

    private func next() -> Int? {
        state.withLock { state in
            guard !state.isStopped, state.next < transfers.count else { return nil }
            defer { state.next += 1 }
            state.running.insert(state.next)
            return state.next
        }
    }

    private func ended(_ number: Int, _ report: GetReport) {
        state.withLock { state in
            state.running.remove(number)
            state.news.append((number, report))
        }
        if failsEarly, report.failure != nil { stop() }
        waiter.ring()
    }

    /// Whether one has ended since the last ``consumeNews()``.
    var hasNews: Bool { state.withLock { !$0.news.isEmpty } }

    /// Those that have ended since.
    func consumeNews() -> [(number: Int, report: GetReport)] {
        state.withLock { state in
            defer { state.news = [] }
            return state.news
        }
    }

    // MARK: For the drawing thread

    /// Why all that run wait; nil where one does not.
    var waitingReason: HoldReason? {
        let meters = state.withLock { $0.running.sorted() }.map { transfers[$0].meter }
        guard meters.allSatisfy({ $0.waitingReason != nil }) else { return nil }
        return meters.first?.waitingReason
    }

    /// How far they all are: of several what has come in this run, with a total once that of each is known.
    var moment: GetMeter.Moment? {
        if transfers.count == 1 { return transfers.first?.meter.moment }
        var (count, total): (Int64, Int64?) = (0, 0)
        for transfer in transfers {
            let moment = transfer.meter.moment
            let offset = moment?.resumedAt ?? 0
            count += max(0, (moment?.progress.completedBytes ?? 0) - offset)
            let rest = moment?.progress.totalBytes.map { max(0, $0 - offset) }
            total = rest.flatMap { rest in total.map { $0 + rest } }
        }
        guard count > 0 else { return nil }
        return GetMeter.Moment(progress: .init(completedBytes: count, totalBytes: total), resumedAt: 0)
    }

    /// The sentences about further tries, each once.
    func consumeRetries() -> [String] { transfers.compactMap { $0.meter.consumeRetry() } }
}
