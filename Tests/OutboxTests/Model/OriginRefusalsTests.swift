// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

@testable import Outbox

@Suite struct OriginRefusalsTests {
    private let origin = "https://api.example.com"
    private let failure = OutboxFailure(.refused, "the server answered 403", statusCode: 403)
    private let start: Int64 = 1_000_000_000_000

    private func id(_ number: Int64) -> OutboxID { OutboxID(rawValue: number) }

    private func schedule(_ change: (inout RetrySchedule) -> Void = { _ in }) -> RetrySchedule {
        var schedule = RetrySchedule()
        schedule.refusalsInARow = 3
        change(&schedule)
        return schedule
    }

    private func stopped() -> OriginRefusals {
        var refusals = OriginRefusals(schedule())
        for number in 1...3 {
            _ = refusals.refused(id(Int64(number)), by: origin, failure, at: start, chance: 0)
        }
        return refusals
    }

    @Test(
        "FLD-024 one bad request is a dead letter, and holds up nothing; the same one again is no second one")
    func single() {
        var refusals = OriginRefusals(schedule())
        for _ in 0..<5 {
            #expect(refusals.refused(id(1), by: origin, failure, at: start, chance: 0) == .final)
            #expect(refusals.isOpen(origin, at: start) && refusals.closed(at: start).isEmpty)
        }
    }

    @Test("FLD-024 several refusals in a row stop the origin, and what was refused before waits again")
    func stops() {
        var refusals = OriginRefusals(schedule())
        #expect(refusals.refused(id(1), by: origin, failure, at: start, chance: 0) == .final)
        #expect(refusals.refused(id(2), by: origin, failure, at: start, chance: 0) == .final)
        #expect(
            refusals.refused(id(3), by: origin, failure, at: start, chance: 0)
                == .passing(until: start + 1_000, revived: [id(1), id(2)]))
        #expect(refusals.closed(at: start) == [origin] && refusals.nextTrial(after: start) == start + 1_000)
        #expect(refusals.isOpen("https://other.example", at: start))
        // Requests in flight at the stop do not count.
        #expect(
            refusals.refused(id(4), by: origin, failure, at: start + 1, chance: 0)
                == .passing(until: start + 1_000, revived: []))
    }

    @Test("OBX-216 A refused batch counts as its entries do, and makes the pause longer once")
    func batch() {
        var refusals = OriginRefusals(schedule())
        #expect(refusals.refused([id(1), id(2)], by: origin, failure, at: start, chance: 0) == .final)
        #expect(
            refusals.refused([id(3), id(4)], by: origin, failure, at: start, chance: 0)
                == .passing(until: start + 1_000, revived: [id(1), id(2)]))
        refusals.started(for: origin)
        #expect(
            refusals.refused([id(1), id(2), id(3)], by: origin, failure, at: start + 1_000, chance: 0)
                == .passing(until: start + 3_000, revived: []))
    }

    @Test("FLD-024 a success between refusals begins anew, and one after them opens the origin")
    func success() {
        var refusals = OriginRefusals(schedule())
        for number in 1...9 {
            #expect(
                refusals.refused(id(Int64(number)), by: origin, failure, at: start, chance: 0) == .final)
            #expect(refusals.delivered(by: origin)?.isStopped == (false as Bool?))
        }
        var again = stopped()
        #expect(again.delivered(by: origin)?.isStopped == true)
        #expect(again.isOpen(origin, at: start) && again.delivered(by: origin) == nil)
    }

    @Test(
        "FLD-024 a stopped origin is asked by one request at a time, with growing pauses, and sooner where that is wanted"
    )
    func trials() {
        var refusals = stopped()
        let first = start + 1_000
        #expect(!refusals.isOpen(origin, at: first - 1) && refusals.isOpen(origin, at: first))
        refusals.started(for: origin)
        #expect(!refusals.isOpen(origin, at: first) && refusals.closed(at: first) == [origin])
        #expect(
            refusals.refused(id(1), by: origin, failure, at: first, chance: 0)
                == .passing(until: first + 2_000, revived: []))
        refusals.settled(origin)
        #expect(refusals.nextTrial(after: first) == first + 2_000)
        #expect(refusals.makeDue(at: first).map(\.until) == [first])
        #expect(refusals.isOpen(origin, at: first))
        // A clock that was set back by a year does not stop it for a year.
        #expect(stopped().isOpen(origin, at: start - 366 * 86_400_000))
    }

    @Test("FLD-024 after an hour refusals make dead letters again, until a success")
    func bounded() {
        var refusals = stopped()
        let end = start + 3_600_000
        #expect(refusals.refused(id(1), by: origin, failure, at: end - 1, chance: 0) != .final)
        for number in 2...9 {
            #expect(
                refusals.refused(id(Int64(number)), by: origin, failure, at: end, chance: 0) == .final)
        }
        #expect(refusals.isOpen(origin, at: end))
        _ = refusals.delivered(by: origin)
        for number in 1...3 {
            let ruling = refusals.refused(id(Int64(number)), by: origin, failure, at: end, chance: 0)
            #expect((ruling == .final) == (number < 3))
        }
    }

    @Test("FLD-024 a restart neither forgets what was refused nor begins the hour anew")
    func restart() throws {
        var before = OriginRefusals(schedule())
        _ = before.refused(id(1), by: origin, failure, at: start, chance: 0)
        _ = before.refused(id(2), by: origin, failure, at: start, chance: 0)
        var after = OriginRefusals(schedule(), [try #require(before.record(origin))])
        #expect(
            after.refused(id(3), by: origin, failure, at: start + 5, chance: 0)
                == .passing(until: start + 1_005, revived: [id(1), id(2)]))
        let next = OriginRefusals(schedule(), [try #require(after.record(origin))])
        #expect(next.closed(at: start + 6) == [origin])
        // Refusals of another day do not count as a row.
        var late = OriginRefusals(schedule(), [try #require(before.record(origin))])
        #expect(late.refused(id(3), by: origin, failure, at: start + 86_400_000, chance: 0) == .final)
    }

    @Test(
        "FLD-079 a gateway may refuse with any status but one that blames the request's content",
        arguments: [400, 402, 406, 411, 417, 418, 424, 426, 444, 499])
    func anyStatus(_ status: Int) {
        let failure = OutboxFailure(.refused, "the server answered \(status)", statusCode: status)
        #expect(failure.mayBeOfGateway)
        for own in [409, 412, 413, 414, 415, 416, 422, 428, 431] {
            #expect(!OutboxFailure(.refused, "x", statusCode: own).mayBeOfGateway)
        }
        // One refusal alone is the request's own fault.
        var refusals = OriginRefusals(schedule())
        #expect(refusals.refused(id(1), by: origin, failure, at: start, chance: 0) == .final)
        #expect(refusals.isOpen(origin, at: start))
    }

    @Test("FLD-024 which refusals may be a gateway's, and none where that is switched off")
    func kinds() {
        for status in [300, 304, 401, 403, 404, 405, 410, 451] {
            #expect(OutboxFailure(.refused, "x", statusCode: status).mayBeOfGateway)
        }
        for status in [409, 413, 415, 422] {
            #expect(!OutboxFailure(.refused, "x", statusCode: status).mayBeOfGateway)
        }
        #expect(!OutboxFailure(.unsendable, "x").mayBeOfGateway)
        var refusals = OriginRefusals(schedule { $0.refusalsInARow = 0 })
        for number in 1...9 {
            #expect(
                refusals.refused(id(Int64(number)), by: origin, failure, at: start, chance: 0) == .final)
        }
    }
}
