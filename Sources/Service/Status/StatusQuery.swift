// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
package import ReachabilityCore
package import ServiceCore
import SessionCore

/// Queries a running service for the start of the status, which a single evaluation cannot know.
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
        let limit = Reactor.now + patience.inNanoseconds
        do throws(ServiceError) {
            var client = try VarlinkClient(path: path, until: limit)
            try client.send(VarlinkCall(ServiceInterface.name + ".GetStatus"), until: limit)
            guard let message = try client.receive(until: limit) else { return nil }
            return since(report, reply: message)
        } catch {
            return nil
        }
    }

    /// Since when the status holds, by a reply of `GetStatus`.
    package static func since(_ report: Report, reply: [UInt8]) -> WallTime? {
        guard let reply = try? JSONValue(parsing: Data(reply)), reply["error"] == nil,
            let state = reply["parameters"],
            // The service may run in another network namespace, or be about to handle a change.
            state["status"]?.string == report.status.description,
            state["interface"]?.string == report.path.interface,
            state["source"]?.string == report.path.source?.description,
            state["gateway"]?.string == report.path.gateway?.description,
            state["reason"]?.string == report.path.reason.sentence
        else { return nil }
        return state["since"]?.string.flatMap { WallTime($0) }
    }
}
