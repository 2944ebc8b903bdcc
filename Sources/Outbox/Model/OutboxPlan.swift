// SPDX-License-Identifier: Apache-2.0

/// What only some entries have: a name, a time to be sent at, gates.
///
/// Times are milliseconds since 1970.
struct OutboxPlan: Sendable, Equatable {
    /// Of the waiting entries with this name only the newest is sent.
    var name: String?
    /// The entry that replaces this one, which is sent once the attempt under way has ended.
    var successor: OutboxID?
    /// The time before which it is not sent, without the part for spreading.
    var planned: Int64?
    /// The random part that is added to ``planned`` and to each opening of the window.
    var delay: Int64 = 0
    var window: OutboxWindow?
    /// The period of periodic work.
    var every: Int64?
    /// The gates that hold it up while they are held, sorted.
    var gates: [String] = []

    /// When it is sent at the earliest; nil for at once.
    var start: Int64? { planned.map { $0 + delay } }

    /// The instant at which the window permits it; nil if it does now, or if there is no window.
    func opens(at now: Int64, _ offset: LocalOffset) -> Int64? {
        guard let opening = window?.opening(at: now, offset) else { return nil }
        let earliest = opening.earliest(after: delay)
        return earliest > now ? earliest : nil
    }

    /// The random part of a spread; `chance` is a random number from 0 to 1.
    ///
    /// It is no longer than the window, so that entries do not gather at its end.
    static func delay(spread: Int64, window: OutboxWindow?, chance: Double) -> Int64 {
        let longest = min(spread, window.map { Int64($0.length) * 60_000 } ?? .max)
        return Int64(Double(max(longest, 0)) * min(max(chance, 0), 1))
    }

    /// The planned time of the next period; nil without one.
    ///
    /// Missed periods are not made up.
    func next(after now: Int64) -> Int64? {
        guard let every, every > 0, let planned else { return nil }
        return now < planned ? planned + every : planned + ((now - planned) / every + 1) * every
    }
}

/// Why entries wait although their turn has come: read once for a list.
struct EntryHolds {
    /// The reasons of origins, by ``OutboxTables/holds()``.
    var origins: [String: String] = [:]
    /// The gates that are held.
    var gates: [String: OutboxGate] = [:]
    /// The reasons of lanes.
    var lanes: [String: String] = [:]
    let now: Int64
    let offset: LocalOffset
    private var openings: [OutboxWindow: OutboxWindow.Opening?] = [:]

    init(now: Int64, _ offset: @escaping LocalOffset) { (self.now, self.offset) = (now, offset) }

    /// The reason of a waiting entry in a sentence; nil if none holds.
    mutating func reason(_ plan: OutboxPlan?, lane: String, origin: () -> String?) -> String? {
        if let plan {
            if let successor = plan.successor { return "request \(successor) takes its place" }
            if let gate = plan.gates.compactMap({ gates[$0] }).first { return gate.sentence }
            if let window = plan.window, let opens = opens(window, plan.delay) {
                return "its window \(window) lets it leave at \(WallClock.text(opens))"
            }
        }
        if let reason = lanes[lane] { return reason }
        guard !origins.isEmpty, let origin = origin() else { return nil }
        return PlainHolds.hold(origin, origins)
    }

    /// Each window of a list is looked up once.
    private mutating func opens(_ window: OutboxWindow, _ delay: Int64) -> Int64? {
        let opening = openings[window] ?? window.opening(at: now, offset)
        openings[window] = opening
        return opening.map { $0.earliest(after: delay) }.flatMap { $0 > now ? $0 : nil }
    }
}
