// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
package import ReachabilityCore
package import ServiceCore
import SessionCore

/// Asks a running service since when the status holds, which a single look cannot see.
package enum StatusQuery {
    /// The limit for the answer: not noticeable to the user.
    package static let patience: Duration = .milliseconds(100)

    /// Since when; nil where no service answers in time, or where it sees another network than `report`.
    ///
    /// - Parameter path: The socket of the service.
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

    /// What the reply of `GetStatus` says of it.
    package static func since(_ report: Report, reply: [UInt8]) -> WallTime? {
        guard let reply = try? JSONValue(parsing: Data(reply)), reply["error"] == nil,
            let state = reply["parameters"],
            // The service may run in another network namespace, or be about to notice a change.
            state["status"]?.string == report.status.description,
            state["interface"]?.string == report.path.interface,
            state["source"]?.string == report.path.source?.description,
            state["gateway"]?.string == report.path.gateway?.description,
            state["reason"]?.string == report.path.reason.sentence
        else { return nil }
        return state["since"]?.string.flatMap { WallTime($0) }
    }
}
