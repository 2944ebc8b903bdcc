// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionManager
import TestSupport

/// A manager in a lab's network, and the counts of its queue as they change.
struct FollowingManager: Sendable {
    let manager: URLSessionManager
    let counts = EventLog<QueueCounts>()

    /// - Parameter source: What its queue goes by.
    init(_ source: NetworkSource, in namespace: NetworkNamespace) {
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        var settings = RequestQueue.Settings()
        settings.follows = source
        manager = URLSessionManager(
            configuration: configuration, securityPolicy: .default, on: namespace.reactor, queue: settings)
        let (events, counts) = (manager.events, counts)
        // The events end with the manager.
        Task { for await event in events { if case .queueChanged(let new) = event { counts.append(new) } } }
    }
}
