// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Outbox

@Suite struct OutboxLimitsTests {
    private func counts(_ waiting: Int, _ dead: Int, _ bytes: Int64) -> OutboxCounts {
        var counts = OutboxCounts()
        (counts.waiting, counts.dead, counts.bytes) = (waiting, dead, bytes)
        return counts
    }

    private func limits(_ policy: OutboxLimits.Policy) -> OutboxLimits {
        var limits = OutboxLimits()
        (limits.maximumEntries, limits.maximumBytes, limits.maximumBodySize) = (10, 100, 50)
        limits.policy = policy
        return limits
    }

    @Test("There is room up to the limit, and not beyond it")
    func room() {
        let limits = limits(.refuse)
        #expect(limits.admission(of: 50, beside: counts(5, 4, 50)) == .admit)
        guard case .refuse(let many) = limits.admission(of: 0, beside: counts(5, 5, 0)) else {
            Issue.record("the eleventh entry was not refused")
            return
        }
        #expect(many.contains("10 entries"))
        guard case .refuse(let large) = limits.admission(of: 1, beside: counts(1, 0, 100)) else {
            Issue.record("the hundred and first byte was not refused")
            return
        }
        #expect(large.contains("100 bytes"))
    }

    @Test("What gives way is as much as is needed")
    func drops() {
        #expect(
            limits(.dropOldest).admission(of: 30, beside: counts(10, 2, 90))
                == .drop(.expiredThenDeadThenOldest, entries: 3, bytes: 20))
        #expect(
            limits(.dropExpiredFirst).admission(of: 0, beside: counts(10, 0, 0))
                == .drop(.expiredThenDead, entries: 1, bytes: 0))
    }

    @Test("What could never fit is refused, whatever gives way", arguments: OutboxLimits.Policy.allCases)
    func tooLarge(policy: OutboxLimits.Policy) {
        guard case .refuse = limits(policy).admission(of: 51, beside: counts(0, 0, 0)) else {
            Issue.record("content beyond the limit was not refused")
            return
        }
    }
}
