// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import SessionManager

/// The source of the network's status for `reach get`.
enum GetNetwork {
    /// Makes a queue follow the network of its transfers.
    ///
    /// - Throws: that the required network has no path at the start.
    static func follow(
        _ urls: [URL], _ queue: RequestQueue, _ options: GetConnectionOptions
    ) throws(SessionError) {
        var settings = queue.settings
        settings.follows =
            options.socket != nil
            ? .none
            : try source(for: urls, options.via, waits: options.via == nil && options.condition != nil)
        // A single transfer has no crowd behind it, and one that started too early is continued.
        settings.settleTime = .milliseconds(20)
        queue.settings = settings
    }

    /// The network to follow; none if there is none at the start, so that a script learns of it at once; a
    /// transfer that has begun waits, and so does one that says what the network has to be.
    private static func source(
        for urls: [URL], _ network: NetworkRequirement?, waits: Bool
    ) throws(SessionError) -> NetworkSource {
        var hosts: Set<String> = []
        for url in urls {
            let host = url.host() ?? ""
            let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
            if IPAddress(bare)?.isLoopback != true, bare != "localhost" { hosts.insert(bare) }
        }
        guard let bare = hosts.first else { return .none }
        let address = hosts.count == 1 ? IPAddress(bare) : nil
        var configuration = ReachabilityConfiguration()
        configuration.requirement = network
        // An address may be on a network without a default route. A name may be looked up by the proxy.
        let manager =
            address == nil
            ? ReachabilityManager(configuration: configuration)
            : ReachabilityManager(hostName: bare, configuration: configuration)
        manager.startMonitoring()
        let path = manager.path
        if waits || manager.isReachable || path.alternative != nil { return .provider(manager) }
        manager.stopMonitoring()
        guard network != nil else { return .none }
        throw SessionError(
            .notConnectedToInternet, "there is no network: \(path.reason.sentence)", failingURL: urls.first)
    }
}
