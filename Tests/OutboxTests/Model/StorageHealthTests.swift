// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Outbox

@Suite struct StorageHealthTests {
    @Test("A sentence is told once, whatever fails with it, and the end when everything works")
    func once() {
        var health = StorageHealth()
        let told = [
            health.worked([.settling]), health.failed(.settling, "full"),
            health.failed(.settling, "full"), health.failed(.choosing, "full"),
            health.failed(.choosing, "broken"), health.failed(.settling, "broken"),
        ]
        #expect(told == [false, true, false, false, true, false])
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
