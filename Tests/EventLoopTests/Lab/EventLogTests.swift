// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Waiting for what callbacks see.
@Suite struct EventLogTests {
    @Test func wait_ReturnsAtOnce_WhereTheConditionHolds() async {
        let log = EventLog<Int>()
        log.append(1)
        #expect(await log.wait(forCount: 1, within: .zero) == [1])
    }

    @Test func wait_Ends_WithTheElementThatSatisfiesIt() async {
        let log = EventLog<Int>()
        async let first = log.wait { $0.contains(3) }
        async let second = log.wait(forCount: 5)
        for number in 1...5 { log.append(number) }
        #expect(await first.contains(3))
        #expect(await second == [1, 2, 3, 4, 5])
    }

    @Test func wait_GivesUp_AfterItsLimit_WithWhatThereIs() async {
        let log = EventLog<Int>()
        log.append(7)
        #expect(await log.wait(forCount: 2, within: .milliseconds(5)) == [7])
    }

    @Test func wait_Ends_WithItsTask() async {
        let log = EventLog<Int>()
        let task = Task { await log.wait(forCount: 1, within: .seconds(3600)) }
        task.cancel()
        #expect(await task.value == [])
    }
}
