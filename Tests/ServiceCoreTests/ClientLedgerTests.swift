// SPDX-License-Identifier: Apache-2.0

import ServiceCore
import Testing

@Suite("Who is let in")
struct ClientLedgerTests {
    private func ledger(clients: Int, perUser: Int) -> ClientLedger {
        var limits = VarlinkLimits()
        limits.clients = clients
        limits.clientsPerUser = perUser
        return ClientLedger(limits: limits)
    }

    @Test("of one user's idle connections the one that was idle for longest goes")
    func perUser() {
        var ledger = ledger(clients: 10, perUser: 2)
        #expect(ledger.admit(user: 1) == .admitted(1))
        #expect(ledger.admit(user: 1) == .admitted(2))
        #expect(ledger.admit(user: 2) == .admitted(3))
        ledger.noticed(1, isIdle: true)
        #expect(ledger.admit(user: 1) == .replacing(2, by: 4))
        #expect(ledger.count == 3)
    }

    @Test("who is at work stays; where all are, nobody is let in")
    func busy() {
        var ledger = ledger(clients: 2, perUser: 2)
        _ = ledger.admit(user: 1)
        _ = ledger.admit(user: 2)
        ledger.noticed(1, isIdle: false)
        #expect(ledger.admit(user: 3) == .replacing(2, by: 3))
        ledger.noticed(3, isIdle: false)
        #expect(ledger.admit(user: 4) == .refused)
        ledger.remove(1)
        #expect(ledger.admit(user: 4) == .admitted(4))
    }
}
