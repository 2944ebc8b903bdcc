// SPDX-License-Identifier: Apache-2.0

/// Limits the connections: a new one replaces the one that has been idle for longest.
///
/// So a program that leaks connections locks no one out. Some slots are reserved for the owners (root and
/// the service's own user), some for members of the group that may use the outbox.
package struct ConnectionQuota: Sendable {
    /// Never reused.
    package typealias ID = UInt64

    /// Whether a new connection is let in.
    package enum Admission: Sendable, Equatable {
        case admitted(ID)
        /// Admitted; the first one is closed.
        case replacing(ID, by: ID)
        /// No connection is idle.
        case refused
    }

    /// In rising order: a higher standing may use the slots of lower ones and is never closed for them.
    private enum Standing: Int, Sendable, Comparable {
        case other, member, owner
        static func < (one: Standing, two: Standing) -> Bool { one.rawValue < two.rawValue }
    }

    private struct Client: Sendable {
        var user: UInt32
        var standing: Standing
        var lastActive: UInt64
        var isIdle = true

        mutating func update(at clock: UInt64, isIdle: Bool) {
            lastActive = clock
            self.isIdle = isIdle
        }
    }

    private var clients: [ID: Client] = [:]
    private var nextID: ID = 1
    private var clock: UInt64 = 0
    private let limits: VarlinkLimits

    package init(limits: VarlinkLimits) { self.limits = limits }

    package var count: Int { clients.count }

    /// Admits or refuses a new connection; `isMember` says whether it may use the outbox.
    package mutating func admit(user: UInt32, isOwner: Bool, isMember: Bool = false) -> Admission {
        let standing: Standing = isOwner ? .owner : isMember ? .member : .other
        var victim: ID?
        if !hasRoom(for: user, isOwner) {
            victim = longestIdle { $0.user == user }
            guard victim != nil else { return .refused }
        } else if !hasRoom(standing) {
            // A connection is never closed for one of a lower standing.
            for lower in [Standing.other, .member, .owner] where lower <= standing && victim == nil {
                victim = longestIdle { $0.standing == lower }
            }
            guard victim != nil else { return .refused }
        }
        if let victim { clients[victim] = nil }
        let id = nextID
        nextID += 1
        clock += 1
        clients[id] = Client(user: user, standing: standing, lastActive: clock)
        return victim.map { .replacing($0, by: id) } ?? .admitted(id)
    }

    private func hasRoom(for user: UInt32, _ isOwner: Bool) -> Bool {
        clients.values.count { $0.user == user }
            < (isOwner ? limits.clientsPerUser : limits.publicClientsPerUser)
    }

    private func hasRoom(_ standing: Standing) -> Bool {
        guard clients.count < limits.clients else { return false }
        if standing == .owner { return true }
        let shared = limits.clients - limits.reservedClients
        guard clients.values.count(where: { $0.standing != .owner }) < shared else { return false }
        return standing == .member
            || clients.values.count { $0.standing == .other } < shared - limits.memberClients
    }

    private func longestIdle(_ concerns: (Client) -> Bool) -> ID? {
        clients.filter { $0.value.isIdle && concerns($0.value) }
            .min { $0.value.lastActive < $1.value.lastActive }?.key
    }

    /// Records activity of a connection, and whether it is idle now.
    package mutating func update(_ id: ID, isIdle: Bool) {
        clock += 1
        clients[id]?.update(at: clock, isIdle: isIdle)
    }

    package mutating func remove(_ id: ID) { clients[id] = nil }
}

/// Limits the connections that watch or wait, in all and for each user.
package struct SubscriptionQuota: Sendable {
    private struct Subscriber: Sendable {
        var user: UInt32
        var isOwner: Bool
    }

    private var subscribers: [ConnectionQuota.ID: Subscriber] = [:]
    private let limits: VarlinkLimits

    package init(limits: VarlinkLimits) { self.limits = limits }

    package var count: Int { subscribers.count }

    /// Admits a connection; returns the sentence for a refusal.
    package mutating func admit(_ id: ConnectionQuota.ID, user: UInt32, isOwner: Bool) -> String? {
        if !isOwner, subscribers.values.count(where: { $0.user == user }) >= limits.publicSubscriptionsPerUser
        {
            return "\(limits.publicSubscriptionsPerUser) clients of this user are watching or waiting already"
        }
        let others = subscribers.values.count { !$0.isOwner }
        guard subscribers.count < limits.subscriptions,
            isOwner || others < limits.subscriptions - limits.reservedSubscriptions
        else { return "\(subscribers.count) clients are watching or waiting already" }
        subscribers[id] = Subscriber(user: user, isOwner: isOwner)
        return nil
    }

    package mutating func remove(_ id: ConnectionQuota.ID) { subscribers[id] = nil }
}
