// SPDX-License-Identifier: Apache-2.0

/// Who is connected, and who has to go where there are too many: the one that has been idle for longest.
///
/// So a program that opens connections and forgets them keeps nobody out. Some places are for the owners, root and the service's own
/// user, and some for the members of the group that may use the outbox: whatever all others do, these are let in.
package struct ConnectionQuota: Sendable {
    /// A connection, by a number that is never given twice.
    package typealias ID = UInt64

    /// Whether a new connection is let in.
    package enum Admission: Sendable, Equatable {
        case admitted(ID)
        /// It is, and this one goes.
        case replacing(ID, by: ID)
        /// All are at work.
        case refused
    }

    /// Whose connection it is; who comes later has the places of those before too, and never has to go for them.
    private enum Standing: Int, Sendable, Comparable {
        case other, member, owner
        static func < (one: Standing, two: Standing) -> Bool { one.rawValue < two.rawValue }
    }

    private struct Client: Sendable {
        var user: UInt32
        var standing: Standing
        var lastActive: UInt64
        var isIdle = true
    }

    private var clients: [ID: Client] = [:]
    private var nextID: ID = 1
    private var clock: UInt64 = 0
    private let limits: VarlinkLimits

    package init(limits: VarlinkLimits) { self.limits = limits }

    package var count: Int { clients.count }

    /// Lets a connection of this user in, or not.
    ///
    /// - Parameter isMember: whether it may use the outbox.
    package mutating func admit(user: UInt32, isOwner: Bool, isMember: Bool = false) -> Admission {
        let standing: Standing = isOwner ? .owner : isMember ? .member : .other
        var victim: ID?
        if !hasRoom(for: user, isOwner) {
            victim = longestIdle { $0.user == user }
            guard victim != nil else { return .refused }
        } else if !hasRoom(standing) {
            // Nobody has to go for one of a lower standing.
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

    /// The connection did something, and is idle now or not.
    package mutating func update(_ id: ID, isIdle: Bool) {
        clock += 1
        clients[id]?.lastActive = clock
        clients[id]?.isIdle = isIdle
    }

    /// The connection is gone.
    package mutating func remove(_ id: ID) { clients[id] = nil }
}
