// SPDX-License-Identifier: Apache-2.0

/// The limits that keep one client from exhausting the service's memory or blocking other clients.
package struct VarlinkLimits: Sendable, Equatable {
    /// The longest message of the outbox's users in bytes, with a request's body.
    package var messageSize = 1 << 20
    /// The longest message of other users: calls about the network are short.
    package var publicMessageSize = 16 << 10
    /// The connections in all.
    package var clients = 256
    /// The connections of root, and those of the service's own user.
    package var clientsPerUser = 128
    /// The connections of each other user.
    package var publicClientsPerUser = 64
    /// The connections reserved for root and the service's own user.
    package var reservedClients = 32
    /// The connections reserved for members of the outbox's group, beside the former.
    package var memberClients = 0
    /// The connections that may watch or wait at a time.
    package var subscriptions = 128
    /// Those of one user, if that is neither root nor the service's own.
    package var publicSubscriptionsPerUser = 32
    /// The subscriptions reserved for root and the service's own user.
    package var reservedSubscriptions = 32
    /// The unread bytes above which calls are not answered, and a subscription skips changes.
    package var unread = 64 << 10
    /// The unread bytes of all other clients together above which they get no more long answers.
    package var publicUnread = 8 << 20
    /// The unread bytes above which a client that follows entries is refused more of them.
    package var followed = 1 << 20
    /// The time limit for the rest of a message.
    package var messageTime: Duration = .seconds(10)
    /// The time limit for a reader that leaves bytes unread.
    package var stallTime: Duration = .seconds(60)

    /// The time for the first call of a client that was admitted just before the service ends.
    package var partingTime: Duration = .milliseconds(300)

    package init() {}

    /// The limits for users without permissions.
    package var forPublicUsers: VarlinkLimits {
        var limits = self
        limits.messageSize = min(messageSize, publicMessageSize)
        return limits
    }
}
