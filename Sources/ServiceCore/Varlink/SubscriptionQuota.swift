// SPDX-License-Identifier: Apache-2.0

/// Whose connections watch or wait: they stay at work for as long as they like, so each user has a share of the places.
package struct SubscriptionQuota: Sendable {
    private struct Subscriber: Sendable {
        var user: UInt32
        var isOwner: Bool
    }

    private var subscribers: [ConnectionQuota.ID: Subscriber] = [:]
    private let limits: VarlinkLimits

    package init(limits: VarlinkLimits) { self.limits = limits }

    package var count: Int { subscribers.count }

    /// Lets a connection watch or wait; the sentence says why not.
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

    /// The connection is gone, or has its answer.
    package mutating func remove(_ id: ConnectionQuota.ID) { subscribers[id] = nil }
}
