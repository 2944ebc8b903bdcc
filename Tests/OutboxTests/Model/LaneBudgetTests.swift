// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Outbox

/// What a lane may still send over an expensive path, and on which day.
@Suite struct LaneBudgetTests {
    @Test("OBX-240 What is spent, or would be exceeded, says so with its numbers")
    func reasons() {
        let bytes = LaneBudget(bytesPerDay: 5_000_000)
        #expect(bytes.reason(LaneSpending(bytes: 0, requests: 9), size: 5_000_000) == nil)
        #expect(bytes.reason(LaneSpending(bytes: 4_999_000, requests: 9), size: 1_000) == nil)
        #expect(
            bytes.reason(LaneSpending(bytes: 5_040_000, requests: 9), size: 0)
                == "budget: 5 MB of 5 MB used today on expensive paths")
        #expect(
            bytes.reason(LaneSpending(bytes: 4_900_000, requests: 9), size: 200_000)
                == "budget: 4.9 MB of 5 MB used today on expensive paths, and the request has 200 kB")
        let requests = LaneBudget(requestsPerDay: 2)
        #expect(requests.reason(LaneSpending(bytes: 1 << 40, requests: 1), size: 1 << 40) == nil)
        #expect(
            requests.reason(LaneSpending(bytes: 0, requests: 2), size: 0)
                == "budget: 2 of 2 requests used today on expensive paths")
        #expect(bytes.rest(LaneSpending(bytes: 4_900_000)) == 100_000)
        #expect(bytes.rest(LaneSpending(bytes: 6_000_000)) == 0 && requests.rest(LaneSpending()) == nil)
    }

    @Test("OBX-241 Days are those of local time, also where clocks go forward and back")
    func days() {
        let hour: Int64 = 3_600
        #expect(LocalDay.number(at: 0) { _ in 0 } == 0)
        #expect(LocalDay.number(at: -1_000) { _ in 0 } == -1)
        #expect(LocalDay.number(at: 82_800_000) { _ in hour } == 1)
        #expect(LocalDay.next(after: 82_799_999) { _ in hour } == 82_800_000)
        #expect(LocalDay.next(after: 82_800_000) { _ in hour } == 169_200_000)
        // Forward by an hour at 01:00 UTC of the second day: midnight after it comes an hour sooner in UTC.
        let offset: (Int64) -> Int64 = { $0 < 86_400 + hour ? hour : 2 * hour }
        let next = LocalDay.next(after: 86_400_000, offset)
        #expect(next == (2 * 86_400 - 2 * hour) * 1_000)
        #expect(LocalDay.number(at: next, offset) == LocalDay.number(at: next - 1, offset) + 1)
    }
}
