// SPDX-License-Identifier: Apache-2.0

import ServiceCore
import Testing

@Suite("Who is let in")
struct ClientLedgerTests {
    private func ledger(clients: Int, perUser: Int, reserved: Int = 0) -> ClientLedger {
        var limits = VarlinkLimits()
        limits.clients = clients
        limits.publicClientsPerUser = perUser
        limits.reservedClients = reserved
        return ClientLedger(limits: limits)
    }

    @Test("of one user's idle connections the one that was idle for longest goes")
    func perUser() {
        var ledger = ledger(clients: 10, perUser: 2)
        #expect(ledger.admit(user: 1, isOwner: false) == .admitted(1))
        #expect(ledger.admit(user: 1, isOwner: false) == .admitted(2))
        #expect(ledger.admit(user: 2, isOwner: false) == .admitted(3))
        ledger.noticed(1, isIdle: true)
        #expect(ledger.admit(user: 1, isOwner: false) == .replacing(2, by: 4))
        #expect(ledger.count == 3)
    }

    @Test("who is at work stays; where all are, nobody is let in")
    func busy() {
        var ledger = ledger(clients: 2, perUser: 2)
        _ = ledger.admit(user: 1, isOwner: false)
        _ = ledger.admit(user: 2, isOwner: false)
        ledger.noticed(1, isIdle: false)
        #expect(ledger.admit(user: 3, isOwner: false) == .replacing(2, by: 3))
        ledger.noticed(3, isIdle: false)
        #expect(ledger.admit(user: 4, isOwner: false) == .refused)
        ledger.remove(1)
        #expect(ledger.admit(user: 4, isOwner: false) == .admitted(4))
    }

    @Test("some places are for the owners, who never have to go for others")
    func reserved() {
        var ledger = ledger(clients: 4, perUser: 4, reserved: 2)
        for id in 1...2 as ClosedRange<UInt64> {
            #expect(ledger.admit(user: UInt32(id), isOwner: false) == .admitted(id))
            ledger.noticed(id, isIdle: false)
        }
        #expect(ledger.admit(user: 3, isOwner: false) == .refused)
        #expect(ledger.admit(user: 0, isOwner: true) == .admitted(3))
        #expect(ledger.admit(user: 0, isOwner: true) == .admitted(4))
        // Idle owners are no reason to let others in.
        ledger.noticed(1, isIdle: true)
        #expect(ledger.admit(user: 3, isOwner: false) == .replacing(1, by: 5))
        ledger.noticed(5, isIdle: false)
        #expect(ledger.admit(user: 3, isOwner: false) == .refused)
        // Others go first, then what an owner has left idle.
        ledger.noticed(2, isIdle: true)
        #expect(ledger.admit(user: 0, isOwner: true) == .replacing(2, by: 6))
        #expect(ledger.admit(user: 0, isOwner: true) == .replacing(3, by: 7))
    }

    @Test(
        "FLD-053 some places are for those who may use the outbox, who never have to go for those who may not"
    )
    func members() {
        var limits = VarlinkLimits()
        (limits.clients, limits.publicClientsPerUser) = (6, 2)
        (limits.reservedClients, limits.memberClients) = (1, 2)
        var ledger = ClientLedger(limits: limits)
        // Strangers take what they get.
        for id in 1...3 as ClosedRange<UInt64> {
            #expect(ledger.admit(user: UInt32(id), isOwner: false) == .admitted(id))
            ledger.noticed(id, isIdle: false)
        }
        #expect(ledger.admit(user: 4, isOwner: false) == .refused)
        #expect(ledger.admit(user: 5, isOwner: false, isMember: true) == .admitted(4))
        #expect(ledger.admit(user: 6, isOwner: false, isMember: true) == .admitted(5))
        // Idle members stay for strangers, and strangers go for members.
        #expect(ledger.admit(user: 4, isOwner: false) == .refused)
        ledger.noticed(2, isIdle: true)
        #expect(ledger.admit(user: 5, isOwner: false, isMember: true) == .replacing(2, by: 6))
        ledger.noticed(6, isIdle: false)
        // Members do not take the owners' places.
        #expect(ledger.admit(user: 7, isOwner: false, isMember: true) == .replacing(4, by: 7))
        #expect(ledger.admit(user: 0, isOwner: true) == .admitted(8))
    }

    @Test("an owner's program that forgets its connections keeps nobody out either")
    func owners() {
        var limits = VarlinkLimits()
        limits.clientsPerUser = 2
        limits.publicClientsPerUser = 1
        var ledger = ClientLedger(limits: limits)
        #expect(ledger.admit(user: 0, isOwner: true) == .admitted(1))
        #expect(ledger.admit(user: 0, isOwner: true) == .admitted(2))
        #expect(ledger.admit(user: 0, isOwner: true) == .replacing(1, by: 3))
        #expect(ledger.admit(user: 7, isOwner: false) == .admitted(4))
        ledger.noticed(4, isIdle: false)
        #expect(ledger.admit(user: 7, isOwner: false) == .refused)
    }

    @Test("each user has a share of the subscriptions, and the owners what others leave")
    func subscriptions() {
        var limits = VarlinkLimits()
        limits.subscriptions = 6
        limits.publicSubscriptionsPerUser = 2
        limits.reservedSubscriptions = 2
        var ledger = SubscriptionLedger(limits: limits)
        #expect(ledger.admit(1, user: 7, isOwner: false) == nil)
        #expect(ledger.admit(2, user: 7, isOwner: false) == nil)
        #expect(
            ledger.admit(3, user: 7, isOwner: false)
                == "2 clients of this user are watching or waiting already")
        #expect(ledger.admit(3, user: 8, isOwner: false) == nil)
        #expect(ledger.admit(4, user: 8, isOwner: false) == nil)
        #expect(ledger.admit(5, user: 9, isOwner: false) == "4 clients are watching or waiting already")
        #expect(ledger.admit(5, user: 0, isOwner: true) == nil)
        #expect(ledger.admit(6, user: 0, isOwner: true) == nil)
        #expect(ledger.admit(7, user: 0, isOwner: true) == "6 clients are watching or waiting already")
        ledger.remove(1)
        #expect(ledger.count == 5)
        #expect(ledger.admit(7, user: 9, isOwner: false) == nil)
    }
}
