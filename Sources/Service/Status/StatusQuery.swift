// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
package import ReachabilityCore
package import ServiceCore
import SessionCore

/// Queries a running service for what a single evaluation cannot know: the start of the status, and what
/// traffic costs by the service's configuration and hints.
package enum StatusQuery {
    /// The time limit for the answer: not noticeable to the user.
    package static let patience: Duration = .milliseconds(100)

    /// Since when the status holds; nil if no service answers in time, or if it sees another network than
    /// `report`.
    ///
    /// - Parameter path: the service's socket.
    package static func since(_ report: Report, at path: String, within patience: Duration = patience)
        -> WallTime?
    {
        state(at: path, within: patience).flatMap { since(report, reply: $0) }
    }

    /// The reply of a service to `GetStatus`; nil if none answers in time.
    package static func state(at path: String, within patience: Duration = patience) -> [UInt8]? {
        let limit = Reactor.now + patience.inNanoseconds
        do throws(ServiceError) {
            var client = try VarlinkClient(path: path, until: limit)
            try client.send(VarlinkCall(ServiceInterface.name + ".GetStatus"), until: limit)
            return try client.receive(until: limit)
        } catch {
            return nil
        }
    }

    /// Since when the status holds, by a reply of `GetStatus`.
    package static func since(_ report: Report, reply: [UInt8]) -> WallTime? {
        same(report, reply)?["since"]?.string.flatMap { WallTime($0) }
    }

    /// Takes over what links cost by a reply of `GetStatus`.
    ///
    /// - Parameter metered: The interfaces of which it is known already whether their traffic costs.
    package static func adoptCosts(
        of reply: [UInt8], into report: inout Report, besides metered: Set<String> = []
    ) {
        guard let links = same(report, reply)?["links"]?.array else { return }
        for index in report.links.indices {
            let link = report.links[index]
            guard let known = links.first(where: { $0["name"]?.string == link.name }),
                let value = known["metered"]?.string.flatMap({ Metered(rawValue: $0) })
            else { continue }
            let cost = NetworkCost(
                metered.contains(link.name) ? link.metered : value,
                isRoaming: known["roaming"]?.bool ?? false,
                isConstrained: link.isConstrained || known["constrained"]?.bool ?? false)
            report.links[index] = link.costing(cost)
            if link.name == report.path.interface, !report.path.isTunnel { report.path.cost = cost }
        }
    }

    /// Takes over what was found behind each uplink by a reply of `GetStatus`, with its sentence.
    package static func adoptInternet(of reply: [UInt8], into report: inout Report) {
        guard let state = same(report, reply),
            let internet = state["internet"]?.string.flatMap({ InternetState(rawValue: $0) })
        else { return }
        report.internet = internet
        report.portal = state["portal"]?.string
        report.adoptedSentence = state["internetSentence"]?.string ?? ""
        report.uplinks = (state["links"]?.array ?? []).compactMap { link in
            uplink(link, isPreferred: { $0 == report.path.interface })
        }
    }

    /// What a link's JSON says of the internet behind it; nil for a link that is no uplink.
    private static func uplink(_ link: JSONValue, isPreferred: (String) -> Bool) -> UplinkInternet? {
        guard let name = link["name"]?.string,
            let since = link["internetSince"]?.string.flatMap({ WallTime($0) }),
            let state = link["internet"]?.string.flatMap({ InternetState(rawValue: $0) })
        else { return nil }
        let answer = InternetAnswer(
            state, link["internetReason"]?.string ?? "",
            portalURL: link["portal"]?.string.flatMap { URL(string: $0) })
        let standing = link["router"]?.string.flatMap { UplinkRouter.Standing(rawValue: $0) }
        return UplinkInternet(
            interface: name, isPreferred: isPreferred(name), answer, wall: since.nanoseconds, boot: 0,
            router: standing.map { UplinkRouter(address: link["gateway"]?.string ?? "", standing: $0) })
    }

    /// The state in a reply, if it is about the network of the report.
    private static func same(_ report: Report, _ reply: [UInt8]) -> JSONValue? {
        guard let reply = try? JSONValue(parsing: Data(reply)), reply["error"] == nil,
            let state = reply["parameters"],
            // The service may run in another network namespace, or be about to handle a change.
            state["status"]?.string == report.status.description,
            state["interface"]?.string == report.path.interface,
            state["source"]?.string == report.path.source?.description,
            state["gateway"]?.string == report.path.gateway?.description,
            state["reason"]?.string == report.path.reason.sentence
        else { return nil }
        return state
    }
}

extension LinkReport {
    /// The same link with another cost.
    fileprivate func costing(_ cost: NetworkCost) -> LinkReport {
        LinkReport(
            name: name, index: index, medium: medium, isOnline: isOnline, reason: reason,
            addresses: addresses, gateway: gateway, metric: metric, isWiFi: isWiFi, cost: cost)
    }
}
