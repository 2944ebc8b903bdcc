// SPDX-License-Identifier: Apache-2.0

/// What the service allows its clients, so that none of them can eat its memory or keep it from the others.
package struct VarlinkLimits: Sendable, Equatable {
    /// The longest message in bytes of users of the outbox.
    ///
    /// A request carries its body in it.
    package var messageSize = 1 << 20
    /// The longest message of other users: calls about the network are short, and an incomplete message costs
    /// memory.
    package var publicMessageSize = 16 << 10
    /// The connections in all.
    package var clients = 256
    /// The connections of root, and those of the service's own user.
    package var clientsPerUser = 128
    /// The connections of anybody else.
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
    /// So many bytes may lie unread before no more of a connection's calls are answered, and its subscription
    /// skips changes.
    package var unread = 64 << 10
    /// The unread bytes of all other clients together above which they get no more long answers.
    package var publicUnread = 8 << 20
    /// How long a begun message may take.
    package var messageTime: Duration = .seconds(10)
    /// How long a reader may stand still while something lies unread.
    package var stallTime: Duration = .seconds(60)

    /// The time for the first call of a client that was admitted just before the service ends.
    package var partingTime: Duration = .milliseconds(300)

    package init() {}

    /// The limits for users without permissions.
    package var forEverybody: VarlinkLimits {
        var limits = self
        limits.messageSize = min(messageSize, publicMessageSize)
        return limits
    }
}
