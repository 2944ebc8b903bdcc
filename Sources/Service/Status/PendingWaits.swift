// SPDX-License-Identifier: Apache-2.0

import EventLoop
import ReachabilityCore
import ServiceCore

/// The pending calls of `Wait`.
final class PendingWaits {
    private struct Waiter {
        var machine: WaitStateMachine
        let answer: (VarlinkReply) -> Void
    }

    private let reactor: Reactor
    private let report: () -> Report?
    private let awaits: (Bool) -> Void
    private let asks: (Set<String>) -> Void
    private var asked: Set<String> = []
    private var waiters: [ConnectionQuota.ID: Waiter] = [:] {
        didSet { awaits(waiters.values.contains { $0.machine.condition.goal == .internet }) }
    }
    private var timer: TimerID?
    /// Set while an evaluation of the links is due.
    private var lookTimer: TimerID?

    /// The delay between the first of a burst of events and the evaluation of the links.
    private static let lookDelay: Int64 = 20_000_000

    /// - Parameters:
    ///   - awaits: told whether any waits for the internet.
    ///   - report: the current state, links included.
    ///   - asks: called with the interfaces over which a server has to be asked, when those change.
    init(
        reactor: Reactor, awaits: @escaping (Bool) -> Void, report: @escaping () -> Report?,
        asks: @escaping (Set<String>) -> Void
    ) {
        self.reactor = reactor
        self.awaits = awaits
        self.report = report
        self.asks = asks
    }

    var count: Int { waiters.count }

    func add(
        _ condition: WaitCondition, _ limits: WaitLimits, for id: ConnectionQuota.ID,
        _ answer: @escaping (VarlinkReply) -> Void
    ) {
        waiters[id] = Waiter(machine: WaitStateMachine(condition, limits, at: now), answer: answer)
        look()
    }

    func remove(_ id: ConnectionQuota.ID) {
        guard waiters.removeValue(forKey: id) != nil else { return }
        arm()
    }

    func close() {
        waiters = [:]
        arm()
        if let lookTimer { reactor.cancel(lookTimer) }
        lookTimer = nil
    }

    /// Handles another status, path or state of the internet.
    func stateChanged() { if !waiters.isEmpty { look() } }

    /// Handles a kernel event: a link's own path may have come or gone.
    func update() {
        guard lookTimer == nil, waiters.values.contains(where: \.machine.readsLinks) else { return }
        lookTimer = reactor.schedule(at: Reactor.now + Self.lookDelay) { [weak self] in
            self?.lookTimer = nil
            self?.look()
        }
    }

    private func look() {
        guard let report = report() else { return }
        let now = now
        for id in waiters.keys { waiters[id]?.machine.observe(report, at: now) }
        answerEnded(report)
    }

    /// Answers the waits that have ended.
    private func answerEnded(_ report: Report) {
        let now = now
        let done = waiters.filter { $0.value.machine.end(at: now) != nil }
        // All are removed before the first is answered, since its client's next call may be another wait.
        for id in done.keys { waiters[id] = nil }
        arm()
        for waiter in done.values {
            let (condition, limits) = (waiter.machine.condition, waiter.machine.limits)
            switch waiter.machine.end(at: now) {
            case .met?: waiter.answer(VarlinkReply(report))
            case .noCarrier?:
                waiter.answer(.noCarrier("not \(condition.words): \(condition.withoutCarrier(limits))"))
            case .timedOut?, nil:
                waiter.answer(.timedOut("not \(condition.words): \(report.path.reason.sentence)"))
            }
        }
    }

    private func arm() {
        let names = Set(waiters.values.flatMap(\.machine.condition.asked))
        if names != asked {
            asked = names
            asks(names)
        }
        let next = waiters.values.compactMap(\.machine.deadline).min()
        if let timer { reactor.cancel(timer) }
        timer = next.map { next in
            reactor.schedule(at: next.nanoseconds) { [weak self] in
                self?.timer = nil
                if let report = self?.report() { self?.answerEnded(report) }
            }
        }
    }

    private var now: MonotonicInstant { MonotonicInstant(nanoseconds: Reactor.now) }
}
