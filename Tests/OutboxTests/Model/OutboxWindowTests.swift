// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Outbox

/// When a daily window is open.
///
/// Local time is made here: 2026-03-02 is a Monday.
@Suite struct OutboxWindowTests {
    private let monday: Int64 = 1_772_409_600_000
    private let hour: Int64 = 3_600_000
    private var day: Int64 { 24 * hour }
    private let utc: LocalOffset = { _ in 0 }

    private func openings(_ text: String, from now: Int64, _ count: Int, _ offset: LocalOffset) throws
        -> [Int64]
    {
        let window = try #require(OutboxWindow(text))
        var (now, found) = (now, [Int64]())
        for _ in 0..<count {
            let next = window.opening(at: now, offset)
            let opening = try #require(next)
            found += [opening.start, opening.end]
            now = opening.end
        }
        return found
    }

    @Test(
        "OBX-001 A window is read and written, and a mistake in it is none",
        arguments: [
            ("02:00-05:00", "02:00-05:00"), ("22:30-06:00", "22:30-06:00"), ("00:00-24:00", "00:00-24:00"),
            ("mon-fri 08:00-18:00", "mon,tue,wed,thu,fri 08:00-18:00"),
            ("SAT,sun 00:00-24:00", "sat,sun 00:00-24:00"),
            ("fri-mon 01:00-02:00", "mon,fri,sat,sun 01:00-02:00"), ("mon-sun 01:00-02:00", "01:00-02:00"),
        ])
    func text(_ given: String, _ shown: String) throws {
        let window = try #require(OutboxWindow(given))
        #expect(window.description == shown && OutboxWindow(shown) == window)
        for wrong in [
            "", "02:00", "2:00-05:00", "02:00-02:00", "24:00-05:00", "02:00-24:01", "02:60-04:00",
            "02:00-05:00 x",
            "xyz 02:00-05:00", "mon- 02:00-05:00", "02:00–05:00", "-1:00-02:00", "mon tue 02:00-05:00",
        ] { #expect(OutboxWindow(wrong) == nil, "\(wrong)") }
    }

    @Test("OBX-002 It opens each day and closes with its minute, over midnight too, and has holidays")
    func days() throws {
        #expect(
            try openings("02:00-05:00", from: monday + 5 * hour, 2, utc)
                == [day + 2 * hour, day + 5 * hour, 2 * day + 2 * hour, 2 * day + 5 * hour].map {
                    monday + $0
                })
        // What holds at this instant began before it.
        #expect(
            try openings("22:00-06:00", from: monday + 3 * hour, 2, utc)
                == [-2 * hour, 6 * hour, 22 * hour, 30 * hour].map { monday + $0 })
        let before = monday + 5 * hour - 1
        #expect(try openings("02:00-05:00", from: before, 1, utc) == [monday + 2 * hour, monday + 5 * hour])
        // Over midnight it is of the day on which it opens; whole days join.
        #expect(
            try openings("fri 22:00-06:00", from: monday, 1, utc)
                == [4 * day + 22 * hour, 5 * day + 6 * hour].map { monday + $0 })
        #expect(
            try openings("sat,sun 00:00-24:00", from: monday, 1, utc)
                == [5 * day, 7 * day].map { monday + $0 })
        let ever = try #require(OutboxWindow("00:00-24:00")?.opening(at: monday, utc))
        #expect(ever.start < monday - day && ever.end > monday + day)
    }

    @Test("OBX-003 Local time decides, east and west of Greenwich and before 1970")
    func zones() throws {
        #expect(
            try openings("02:00-05:00", from: monday, 1) { _ in 9 * 3_600 }
                == [17 * hour, 20 * hour].map { monday + $0 })
        #expect(
            try openings("02:00-05:00", from: monday, 1) { _ in -34_200 }
                == [41_400_000, 52_200_000].map { monday + $0 })
        #expect(try openings("02:00-05:00", from: -day + 1, 1, utc) == [-22 * hour, -19 * hour])
    }

    /// Clocks go from two to three at 01:00 UTC of a day, or back.
    private func summer(_ change: Int64, begins: Bool) -> LocalOffset {
        { instant in (instant * 1_000 >= change) == begins ? 7_200 : 3_600 }
    }

    @Test("OBX-004 Where clocks go forward a window in the skipped hour opens at its end, once")
    func forward() throws {
        let change = monday + hour
        let offset = summer(change, begins: true)
        // 02:30 does not exist; at 03:00 it is past half past two.
        #expect(try openings("02:30-04:00", from: monday, 1, offset) == [change, change + hour])
        #expect(
            try openings("02:15-02:45", from: monday, 1, offset)
                == [day + 15 * 60_000, day + 45 * 60_000].map { monday + $0 })
        #expect(try openings("01:00-04:00", from: monday, 1, offset) == [monday, change + hour])
    }

    @Test("OBX-005 Where clocks go back it is open as long as the clock on the wall says so")
    func back() throws {
        let change = monday + hour
        let offset = summer(change, begins: false)
        #expect(
            try openings("02:15-02:45", from: monday, 2, offset)
                == [15, 45, 75, 105].map { monday + $0 * 60_000 })
        #expect(
            try openings("01:00-04:00", from: monday - hour, 1, offset) == [monday - hour, change + 2 * hour])
    }

    @Test("OBX-006 What is spread leaves so much after the opening, each time, and never after its end")
    func spreading() throws {
        let plan = OutboxPlan(delay: 40 * 60_000, window: OutboxWindow("02:00-05:00"))
        #expect(plan.opens(at: monday, utc) == monday + 2 * hour + 40 * 60_000)
        #expect(plan.opens(at: monday + 2 * hour + 1, utc) == monday + 2 * hour + 40 * 60_000)
        #expect(plan.opens(at: monday + 2 * hour + 40 * 60_000, utc) == nil)
        #expect(plan.opens(at: monday + 5 * hour - 1, utc) == nil)
        #expect(plan.opens(at: monday + 5 * hour, utc) == monday + day + 2 * hour + 40 * 60_000)
        let late = OutboxPlan(delay: 4 * hour, window: OutboxWindow("02:00-05:00"))
        #expect(late.opens(at: monday, utc) == monday + 5 * hour - 1_000)
        #expect(OutboxPlan().opens(at: monday, utc) == nil)
        // A part of the spread is no longer than the window itself.
        let window = OutboxWindow("23:30-00:30")
        #expect(OutboxPlan.delay(spread: 9 * hour, window: window, chance: 1) == hour)
        #expect(OutboxPlan.delay(spread: 9 * hour, window: nil, chance: 0.5) == 9 * hour / 2)
        #expect(OutboxPlan.delay(spread: -1, window: nil, chance: 1) == 0)
    }

    @Test("OBX-007 The next period is the first after now; missed ones are not made up")
    func periods() {
        var plan = OutboxPlan(planned: 1_000, delay: 30, every: 100)
        #expect(plan.start == 1_030)
        #expect([0, 999].map { plan.next(after: $0) } == [1_100, 1_100])
        #expect([1_000, 1_099, 1_100, 1_750].map { plan.next(after: $0) } == [1_100, 1_100, 1_200, 1_800])
        plan.every = nil
        #expect(plan.next(after: 5) == nil)
    }
}
