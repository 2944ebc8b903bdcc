// SPDX-License-Identifier: Apache-2.0

/// What the service allows its clients, so that none of them can eat its memory or keep it from the others.
package struct VarlinkLimits: Sendable, Equatable {
    /// The longest message in bytes.
    ///
    /// A request for the outbox carries its body in it; larger bodies are handed over as files.
    package var messageSize = 1 << 20
    /// The connections in all.
    package var clients = 256
    /// The connections of one user, the service's own and root included.
    package var clientsPerUser = 128
    /// The connections that may watch or wait at a time.
    package var subscriptions = 128
    /// So many bytes may lie unread before no more of a connection's calls are answered, and its subscription skips changes.
    package var unread = 64 << 10
    /// How long a begun message may take.
    package var messageTime: Duration = .seconds(10)
    /// How long a reader may stand still while something lies unread.
    package var stallTime: Duration = .seconds(60)

    package init() {}
}
