// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Outbox

@Suite struct StorageHealthTests {
    @Test("A sentence is reported once, whatever work fails with it, and the recovery when everything works")
    func once() {
        var health = StorageHealth()
        let reported = [
            health.worked([.settling]), health.failed(.settling, "full"),
            health.failed(.settling, "full"), health.failed(.choosing, "full"),
            health.failed(.choosing, "broken"), health.failed(.settling, "broken"),
        ]
        #expect(reported == [false, true, false, false, true, false])
        let worked = [
            health.worked([.choosing]), health.worked([.choosing, .reading]),
            health.worked([.settling, .reading]), health.worked([.settling]),
        ]
        #expect(worked == [false, false, true, false])
        // Afterwards the failure is new again.
        let isNew = health.failed(.settling, "full")
        #expect(isNew)
    }
}
