// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Reachability
import Service
import ServiceCore
import SessionCore

/// Client for a running service's history, for users without read access to its file.
enum ServiceHistory {
    /// Reading a long history from a slow disk takes its time.
    private static let patience: Int64 = 30_000_000_000

    /// Nil where no service answers; prints a message after a moment of waiting.
    static func timeline(from: WallTime, to: WallTime) -> HistoryTimeline? {
        let note = WaitingMessage("waiting for the service at \(ServicePaths.socketHere)")
        let message = message(from)
        note.end()
        guard let message, let reply = try? JSONValue(parsing: Data(message)), reply["error"] == nil,
            let periods = reply["parameters"]?["periods"]?.array
        else { return nil }
        return HistoryTimeline(periods: periods.compactMap { HistoryPeriod($0) }, from: from, to: to)
    }

    private static func message(_ from: WallTime) -> [UInt8]? {
        let limit = Reactor.now + patience
        do throws(ServiceError) {
            var client = try VarlinkClient(path: ServicePaths.socketHere, until: limit)
            let parameters: [String: JSONValue] = ["since": .string(from.text), "limit": 10_000]
            try client.send(VarlinkCall(ServiceInterface.name + ".GetHistory", parameters), until: limit)
            return try client.receive(until: limit)
        } catch { return nil }
    }
}
