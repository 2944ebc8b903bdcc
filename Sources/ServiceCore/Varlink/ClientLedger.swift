// SPDX-License-Identifier: Apache-2.0

/// Who is connected, and who has to go where there are too many: the one that has been idle for longest.
///
/// So a program that opens connections and forgets them keeps nobody out. Some places are for the owners, root and the service's own
/// user: whatever all others do, these are let in.
package struct ClientLedger: Sendable {
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

    private struct Client: Sendable {
        var user: UInt32
        var isOwner: Bool
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
    package mutating func admit(user: UInt32, isOwner: Bool) -> Admission {
        var victim: ID?
        if !hasRoom(for: user, isOwner) {
            victim = longestIdle { $0.user == user }
            guard victim != nil else { return .refused }
        } else if !hasRoom(isOwner) {
            // An owner never has to go for others.
            victim = longestIdle { !$0.isOwner } ?? (isOwner ? longestIdle { _ in true } : nil)
            guard victim != nil else { return .refused }
        }
        if let victim { clients[victim] = nil }
        let id = nextID
        nextID += 1
        clock += 1
        clients[id] = Client(user: user, isOwner: isOwner, lastActive: clock)
        return victim.map { .replacing($0, by: id) } ?? .admitted(id)
    }

    private func hasRoom(for user: UInt32, _ isOwner: Bool) -> Bool {
        clients.values.count { $0.user == user }
            < (isOwner ? limits.clientsPerUser : limits.publicClientsPerUser)
    }

    private func hasRoom(_ isOwner: Bool) -> Bool {
        guard clients.count < limits.clients else { return false }
        return isOwner || clients.values.count { !$0.isOwner } < limits.clients - limits.reservedClients
    }

    private func longestIdle(_ concerns: (Client) -> Bool) -> ID? {
        clients.filter { $0.value.isIdle && concerns($0.value) }
            .min { $0.value.lastActive < $1.value.lastActive }?.key
    }

    /// The connection did something, and is idle now or not.
    package mutating func noticed(_ id: ID, isIdle: Bool) {
        clock += 1
        clients[id]?.lastActive = clock
        clients[id]?.isIdle = isIdle
    }

    /// The connection is gone.
    package mutating func remove(_ id: ID) { clients[id] = nil }
}
