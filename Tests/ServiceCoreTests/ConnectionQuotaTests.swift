// SPDX-License-Identifier: Apache-2.0

import ServiceCore
import Testing

@Suite("Who is let in")
struct ConnectionQuotaTests {
    private func quota(clients: Int, perUser: Int, reserved: Int = 0) -> ConnectionQuota {
        var limits = VarlinkLimits()
        limits.clients = clients
        limits.publicClientsPerUser = perUser
        limits.reservedClients = reserved
        return ConnectionQuota(limits: limits)
    }

    @Test("of one user's idle connections the one that was idle for longest goes")
    func perUser() {
        var quota = quota(clients: 10, perUser: 2)
        #expect(quota.admit(user: 1, isOwner: false) == .admitted(1))
        #expect(quota.admit(user: 1, isOwner: false) == .admitted(2))
        #expect(quota.admit(user: 2, isOwner: false) == .admitted(3))
        quota.update(1, isIdle: true)
        #expect(quota.admit(user: 1, isOwner: false) == .replacing(2, by: 4))
        #expect(quota.count == 3)
    }

    @Test("who is at work stays; where all are, nobody is let in")
    func busy() {
        var quota = quota(clients: 2, perUser: 2)
        _ = quota.admit(user: 1, isOwner: false)
        _ = quota.admit(user: 2, isOwner: false)
        quota.update(1, isIdle: false)
        #expect(quota.admit(user: 3, isOwner: false) == .replacing(2, by: 3))
        quota.update(3, isIdle: false)
        #expect(quota.admit(user: 4, isOwner: false) == .refused)
        quota.remove(1)
        #expect(quota.admit(user: 4, isOwner: false) == .admitted(4))
    }

    @Test("some places are for the owners, who never have to go for others")
    func reserved() {
        var quota = quota(clients: 4, perUser: 4, reserved: 2)
        for id in 1...2 as ClosedRange<UInt64> {
            #expect(quota.admit(user: UInt32(id), isOwner: false) == .admitted(id))
            quota.update(id, isIdle: false)
        }
        #expect(quota.admit(user: 3, isOwner: false) == .refused)
        #expect(quota.admit(user: 0, isOwner: true) == .admitted(3))
        #expect(quota.admit(user: 0, isOwner: true) == .admitted(4))
        // Idle owners are not closed for others.
        quota.update(1, isIdle: true)
        #expect(quota.admit(user: 3, isOwner: false) == .replacing(1, by: 5))
        quota.update(5, isIdle: false)
        #expect(quota.admit(user: 3, isOwner: false) == .refused)
        // Others are closed first, then an owner's idle connections.
        quota.update(2, isIdle: true)
        #expect(quota.admit(user: 0, isOwner: true) == .replacing(2, by: 6))
        #expect(quota.admit(user: 0, isOwner: true) == .replacing(3, by: 7))
    }

    @Test(
        "FLD-053 some places are for those who may use the outbox, who never have to go for those who may not"
    )
    func members() {
        var limits = VarlinkLimits()
        (limits.clients, limits.publicClientsPerUser) = (6, 2)
        (limits.reservedClients, limits.memberClients) = (1, 2)
        var quota = ConnectionQuota(limits: limits)
        // Other users get the remaining connections.
        for id in 1...3 as ClosedRange<UInt64> {
            #expect(quota.admit(user: UInt32(id), isOwner: false) == .admitted(id))
            quota.update(id, isIdle: false)
        }
        #expect(quota.admit(user: 4, isOwner: false) == .refused)
        #expect(quota.admit(user: 5, isOwner: false, isMember: true) == .admitted(4))
        #expect(quota.admit(user: 6, isOwner: false, isMember: true) == .admitted(5))
        // Idle members are not closed for strangers, but strangers are for members.
        #expect(quota.admit(user: 4, isOwner: false) == .refused)
        quota.update(2, isIdle: true)
        #expect(quota.admit(user: 5, isOwner: false, isMember: true) == .replacing(2, by: 6))
        quota.update(6, isIdle: false)
        // Members do not get the owners' connections.
        #expect(quota.admit(user: 7, isOwner: false, isMember: true) == .replacing(4, by: 7))
        #expect(quota.admit(user: 0, isOwner: true) == .admitted(8))
    }

    @Test("an owner's program that forgets its connections keeps nobody out either")
    func owners() {
        var limits = VarlinkLimits()
        limits.clientsPerUser = 2
        limits.publicClientsPerUser = 1
        var quota = ConnectionQuota(limits: limits)
        #expect(quota.admit(user: 0, isOwner: true) == .admitted(1))
        #expect(quota.admit(user: 0, isOwner: true) == .admitted(2))
        #expect(quota.admit(user: 0, isOwner: true) == .replacing(1, by: 3))
        #expect(quota.admit(user: 7, isOwner: false) == .admitted(4))
        quota.update(4, isIdle: false)
        #expect(quota.admit(user: 7, isOwner: false) == .refused)
    }

    @Test("each user has a share of the subscriptions, and the owners what others leave")
    func subscriptions() {
        var limits = VarlinkLimits()
        limits.subscriptions = 6
        limits.publicSubscriptionsPerUser = 2
        limits.reservedSubscriptions = 2
        var quota = SubscriptionQuota(limits: limits)
        #expect(quota.admit(1, user: 7, isOwner: false) == nil)
        #expect(quota.admit(2, user: 7, isOwner: false) == nil)
        #expect(
            quota.admit(3, user: 7, isOwner: false)
                == "2 clients of this user are watching or waiting already")
        #expect(quota.admit(3, user: 8, isOwner: false) == nil)
        #expect(quota.admit(4, user: 8, isOwner: false) == nil)
        #expect(quota.admit(5, user: 9, isOwner: false) == "4 clients are watching or waiting already")
        #expect(quota.admit(5, user: 0, isOwner: true) == nil)
        #expect(quota.admit(6, user: 0, isOwner: true) == nil)
        #expect(quota.admit(7, user: 0, isOwner: true) == "6 clients are watching or waiting already")
        quota.remove(1)
        #expect(quota.count == 5)
        #expect(quota.admit(7, user: 9, isOwner: false) == nil)
    }
}
