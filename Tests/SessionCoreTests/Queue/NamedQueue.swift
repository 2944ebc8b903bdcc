// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

/// A queue whose requests have names, on a clock of one's own.
struct NamedQueue: ~Copyable {
    var machine = RequestQueueStateMachine(seed: 7)
    var now: Int64 = 0
    private var tickets: [String: QueueTicket] = [:]
    private var names: [QueueTicket: String] = [:]
    private var isPaused = false
    private var passable = DemandSet.all

    static let millisecond: Int64 = 1_000_000

    init(_ change: (inout RequestQueueStateMachine.Limits) -> Void = { _ in }) {
        var limits = RequestQueueStateMachine.Limits()
        limits.ramp = .none
        change(&limits)
        machine.limitsChanged(limits)
    }

    mutating func add(_ name: String, _ change: (inout QueueRequest) -> Void = { _ in }) {
        var request = QueueRequest()
        change(&request)
        record(name, machine.enqueued(request, at: now))
    }

    mutating func record(_ name: String, _ ticket: QueueTicket) {
        tickets[name] = ticket
        names[ticket] = name
    }

    func ticket(_ name: String) -> QueueTicket {
        guard let ticket = tickets[name] else { preconditionFailure("nobody is called \(name)") }
        return ticket
    }

    /// Who starts, in order.
    mutating func started() -> String {
        var all = ""
        while let ticket = machine.next(at: now) { all += names[ticket] ?? "?" }
        return all
    }

    mutating func expired() -> String {
        var all = ""
        while let ticket = machine.nextExpired(at: now) {
            all += names[ticket] ?? "?"
            _ = machine.finished(ticket, at: now)
        }
        return all
    }

    @discardableResult
    mutating func finish(_ name: String) -> String? {
        machine.finished(ticket(name), at: now).flatMap { names[$0] }
    }

    mutating func gate(open: Bool) { gate(open ? .all : DemandSet(.nothing)) }

    mutating func gate(_ passable: DemandSet) {
        self.passable = passable
        machine.gateChanged(passable: passable, isPaused: isPaused, at: now)
    }

    mutating func pause(_ isPaused: Bool) {
        self.isPaused = isPaused
        machine.gateChanged(passable: passable, isPaused: isPaused, at: now)
    }

    /// Moves the clock, and tells what started at each deadline on the way.
    mutating func run(until end: Int64) -> [String] {
        var all: [String] = []
        while let deadline = machine.nextDeadline, deadline <= end {
            now = max(now, deadline)
            machine.deadlineReached(at: now)
            let names = started() + expired()
            if !names.isEmpty { all.append(names) }
        }
        now = end
        return all
    }
}
