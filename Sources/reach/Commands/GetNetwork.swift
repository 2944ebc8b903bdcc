// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import SessionManager

/// The source of the network's status for `reach get`.
enum GetNetwork {
    /// Has a queue follow the network of a transfer.
    static func follow(_ url: URL, _ queue: RequestQueue) {
        var settings = queue.settings
        settings.follows = source(for: url)
        // Nothing crowds in behind a single transfer, and what it begins too early it goes on with.
        settings.settleTime = .milliseconds(20)
        queue.settings = settings
    }

    /// Who is followed; nobody where there is no network at the start, so that a script hears of that at once.
    ///
    /// A transfer that had begun waits for the network to come back instead, for as long as it takes.
    private static func source(for url: URL) -> NetworkSource {
        let host = url.host() ?? ""
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let address = IPAddress(bare)
        if address?.isLoopback == true || bare == "localhost" { return .nobody }
        // An address may be on a network that no default route leads to. A name may be the proxy's matter.
        let manager = address == nil ? ReachabilityManager() : ReachabilityManager(hostName: bare)
        manager.startMonitoring()
        guard manager.isReachable || manager.path.alternative != nil else {
            manager.stopMonitoring()
            return .nobody
        }
        return .provider(manager)
    }
}
