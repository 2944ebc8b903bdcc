// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OutboxCore

@Suite struct StorageTroublesTests {
    @Test("A sentence is told once, whatever fails with it, and the end when everything works")
    func once() {
        var troubles = StorageTroubles()
        let told = [
            troubles.worked([.settling]), troubles.failed(.settling, "full"),
            troubles.failed(.settling, "full"), troubles.failed(.choosing, "full"),
            troubles.failed(.choosing, "broken"), troubles.failed(.settling, "broken"),
        ]
        #expect(told == [false, true, false, false, true, false])
        let worked = [
            troubles.worked([.choosing]), troubles.worked([.choosing, .noticing]),
            troubles.worked([.settling, .noticing]), troubles.worked([.settling]),
        ]
        #expect(worked == [false, false, true, false])
        // Then it is news again.
        let isNew = troubles.failed(.settling, "full")
        #expect(isNew)
    }
}
