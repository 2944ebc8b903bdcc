// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Reachability
import SessionManager

/// The meaning of a status that is no success (RFC 9110 §15).
struct GetStatus: Equatable {
    /// The program's exit code.
    var exitCode: ExitCode
    /// The explanation beside the status; may be empty.
    var explanation = ""

    /// - Parameter isConditional: Whether the request permits an answer without content (`If-None-Match` …).
    init(_ status: Int, isConditional: Bool = false, hasLocation: Bool = false) {
        exitCode = ExitCode(status: status, isConditional: isConditional)
        switch status {
        case 304 where isConditional: explanation = "the server has nothing else than what the request names"
        case 304:
            explanation =
                "the request names nothing that could be unmodified; the server, or a cache before it, is broken"
        case 300..<400:
            explanation =
                hasLocation
                ? "this is no redirect that can be followed"
                : "the server does not say where to go (no Location)"
        default: break
        }
    }
}

/// The source of the network's status for `reach get`.
enum GetNetwork {
    /// Makes a queue follow the network of a transfer.
    ///
    /// - Throws: that the required network has no path at the start.
    static func follow(
        _ url: URL, _ queue: RequestQueue, _ options: GetConnectionOptions
    ) throws(SessionError) {
        var settings = queue.settings
        settings.follows = try source(
            for: url, options.via, waits: options.via == nil && options.condition != nil)
        // A single transfer has no crowd behind it, and one that started too early is continued.
        settings.settleTime = .milliseconds(20)
        queue.settings = settings
    }

    /// The network to follow; none if there is none at the start, so that a script learns of it at once; a
    /// transfer that has begun waits, and so does one that says what the network has to be.
    private static func source(
        for url: URL, _ network: NetworkRequirement?, waits: Bool
    ) throws(SessionError) -> NetworkSource {
        let host = url.host() ?? ""
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let address = IPAddress(bare)
        if address?.isLoopback == true || bare == "localhost" { return .nobody }
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
        guard network != nil else { return .nobody }
        throw SessionError(
            .notConnectedToInternet, "there is no network: \(path.reason.sentence)", failingURL: url)
    }
}
