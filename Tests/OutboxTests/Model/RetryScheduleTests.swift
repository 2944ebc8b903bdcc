// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Outbox

@Suite struct RetryScheduleTests {
    let schedule = RetrySchedule()

    @Test("Pauses double up to the longest, and chance takes half of them at most")
    func growth() {
        let whole = (1...12).map { schedule.pause(afterFailures: $0, kind: .server, chance: 0) }
        #expect(whole == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600].map { $0 * 1_000 })
        #expect(schedule.pause(afterFailures: 3, kind: .network, chance: 1) == 2_000)
        #expect(schedule.pause(afterFailures: .max, kind: .network, chance: 0) == 600_000)
    }

    @Test("A server makes pauses longer, never shorter, and not longer than is allowed")
    func retryAfter() {
        #expect(
            schedule.pause(afterFailures: 1, kind: .server, retryAfter: .seconds(30), chance: 0) == 30_000)
        #expect(
            schedule.pause(afterFailures: 10, kind: .server, retryAfter: .seconds(1), chance: 0) == 512_000)
        #expect(
            schedule.pause(afterFailures: 1, kind: .server, retryAfter: .seconds(1 << 40), chance: 0)
                == 3_600_000)
        #expect(schedule.horizon == 3_600_000)
        var patient = schedule
        patient.longestRetryAfter = .seconds(86_400)
        #expect(
            patient.pause(afterFailures: 1, kind: .server, retryAfter: .seconds(80_000), chance: 0)
                == 80_000_000)
        #expect(patient.horizon == 86_400_000)
    }

    @Test("Failures that need a correction are retried slowly")
    func slow() {
        for kind in [OutboxFailure.Kind.security, .secret, .local] {
            #expect(schedule.pause(afterFailures: 1, kind: kind, chance: 1) == 60_000)
        }
    }

    @Test("A refused secret is tried with growing pauses, and not for ever")
    func refusals() {
        let pauses = (1...8).map { schedule.pause(afterFailures: $0, kind: .credentials, chance: 0) }
        #expect(pauses == [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, nil])
        #expect(schedule.pause(afterFailures: 8, kind: .server, chance: 0) == 128_000)
    }

    @Test("After as many failures as are allowed there is no further try")
    func limit() {
        var schedule = schedule
        schedule.maximumAttempts = 3
        #expect(schedule.pause(afterFailures: 2, kind: .server, chance: 0) == 2_000)
        #expect(schedule.pause(afterFailures: 3, kind: .server, chance: 0) == nil)
    }
}
