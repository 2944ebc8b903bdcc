// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// Detects origins that refuse everything, such as a gateway that has lost its routes or keys for a while.
///
/// One refusal is the request's own fault and makes a dead letter. Several in a row from one origin, without
/// a success between, count as the server's fault: the origin is stopped, which lets one request at a time
/// through, after growing pauses, and the refused requests wait again. A success ends that. After
/// ``RetrySchedule/longestStop`` without one, refusals make dead letters again, until the next success or
/// until as much time has passed without a refusal.
struct OriginRefusals: Sendable, Equatable {
    /// The state of an origin; stored on the disk, so that it survives a restart.
    struct Record: Sendable, Equatable {
        var origin: String
        /// The requests that were refused in a row and became dead letters; empty once the origin is stopped.
        var suspects: [OutboxID] = []
        /// The time of the last refusal and of the stop, in milliseconds since 1970, as all times here.
        var last: Int64
        var since: Int64 = 0
        /// No request is sent there before this; 0 if the origin is not stopped.
        var until: Int64 = 0
        /// The refusals since the origin was stopped.
        var trials = 0
        /// Whether refusals are the requests' fault again, because the stop lasted long enough.
        var isSpent = false
        var reason = ""

        var isStopped: Bool { until > 0 }
    }

    enum Ruling: Sendable, Equatable {
        /// The request becomes a dead letter.
        case final
        /// The server's fault: the request waits until then, and these dead letters wait again.
        case passing(until: Int64, revived: [OutboxID])
    }

    private var records: [String: Record] = [:]
    /// The stopped origins with a request in flight.
    private var trials: Set<String> = []
    private let schedule: RetrySchedule

    init(_ schedule: RetrySchedule, _ records: [Record] = []) {
        var schedule = schedule
        schedule.maximumAttempts = nil
        self.schedule = schedule
        for record in records { self.records[record.origin] = record }
    }

    func record(_ origin: String) -> Record? { records[origin] }

    /// A request was refused for a reason that may be a gateway's; `chance` is a random number from 0 to 1.
    mutating func refused(
        _ entry: OutboxID, by origin: String, _ failure: OutboxFailure, at now: Int64, chance: Double
    ) -> Ruling {
        refused([entry], by: origin, failure, at: now, chance: chance)
    }

    /// The same for the entries of one request, each of which counts.
    mutating func refused(
        _ entries: [OutboxID], by origin: String, _ failure: OutboxFailure, at now: Int64, chance: Double
    ) -> Ruling {
        var record = records[origin] ?? Record(origin: origin, last: now)
        defer { records[origin] = record }
        let longest = schedule.longestStop.milliseconds
        // Long ago, or recorded before the clock was set back.
        if !record.isStopped, !(0...longest).contains(now - record.last) {
            record = Record(origin: origin, last: now)
        }
        record.last = now
        if record.isSpent { return .final }
        if record.isStopped {
            guard (0..<longest).contains(now - record.since) else {
                record.until = 0
                record.isSpent = true
                return .final
            }
            // Requests in flight when the origin was stopped do not count.
            if now >= record.until || trials.contains(origin) {
                record.trials += 1
                record.until = now + pause(record.trials, chance)
            }
            return .passing(until: record.until, revived: [])
        }
        let known = Set(record.suspects)
        record.suspects += entries.filter { !known.contains($0) }
        guard record.suspects.count >= max(schedule.refusalsInARow, 1), schedule.refusalsInARow > 0 else {
            return .final
        }
        let refused = Set(entries)
        let revived = record.suspects.filter { !refused.contains($0) }
        record.reason =
            "\(origin) has refused \(record.suspects.count) requests in a row, the last because \(failure.message); it is asked again at longer intervals"
        record.suspects = []
        record.since = now
        record.trials = 1
        record.until = now + pause(1, chance)
        return .passing(until: record.until, revived: revived)
    }

    /// At least a millisecond: `until` of 0 means not stopped.
    private func pause(_ trials: Int, _ chance: Double) -> Int64 {
        max(schedule.pause(afterFailures: trials, kind: .server, chance: chance) ?? 0, 1)
    }

    /// An origin has accepted a request; removes and returns its record.
    mutating func delivered(by origin: String) -> Record? { records.removeValue(forKey: origin) }

    /// Whether a request may go to an origin now.
    func isOpen(_ origin: String, at now: Int64) -> Bool {
        guard let record = records[origin], record.isStopped else { return true }
        return isDue(record, now) && !trials.contains(origin)
    }

    /// A request to an origin is sent.
    mutating func started(for origin: String) {
        if records[origin]?.isStopped == true { trials.insert(origin) }
    }

    /// A request to an origin has its outcome.
    mutating func settled(_ origin: String) { trials.remove(origin) }

    /// The origins to which nothing is sent now.
    func closed(at now: Int64) -> [String] {
        records.values.filter { $0.isStopped && !isOpen($0.origin, at: now) }.map(\.origin).sorted()
    }

    /// When the next stopped origin may be tried.
    func nextTrial(after now: Int64) -> Int64? {
        records.values.filter { $0.isStopped && !isDue($0, now) }.map(\.until).min()
    }

    /// Lets stopped origins be tried at once; returns them.
    mutating func makeDue(at now: Int64) -> [Record] {
        let waiting = records.values.filter { $0.isStopped && !isDue($0, now) }
        for record in waiting { records[record.origin]?.until = now }
        return waiting.compactMap { records[$0.origin] }
    }

    /// A time beyond any pause was recorded before the clock was set back.
    private func isDue(_ record: Record, _ now: Int64) -> Bool {
        now >= record.until || record.until - now > schedule.horizon
    }
}
