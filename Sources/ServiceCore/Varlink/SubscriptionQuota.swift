// SPDX-License-Identifier: Apache-2.0

/// Limits the connections that watch or wait, in all and for each user: they are busy for as long as they like.
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
