// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Outbox

/// A folder for an outbox, and the outbox's events.
final class OutboxLab: Sendable {
    let folder: ScratchFolder
    let events = EventLog<OutboxEvent>()
    var path: String { folder("outbox") }

    init() throws { folder = try ScratchFolder("reach-outbox") }

    func open(_ change: (inout OutboxConfiguration) -> Void = { _ in }) async throws -> RequestOutbox {
        var configuration = OutboxConfiguration()
        configuration.retries.first = .milliseconds(1)
        configuration.retries.longest = .milliseconds(1)
        configuration.retries.slow = .milliseconds(1)
        change(&configuration)
        let events = events
        return try await RequestOutbox(at: path, configuration: configuration) { events.append($0) }
    }

    /// A manager whose connections lead to the test origin.
    /// - Parameter network: the network that its queue follows.
    static func manager(following network: NetworkSource = .none) -> URLSessionManager {
        var configuration = SessionConfiguration()
        configuration.proxy = ""
        var queue = RequestQueue.Settings()
        queue.follows = network
        return URLSessionManager(
            configuration: configuration, responseSerializer: HTTPResponseSerializer(), queue: queue)
    }

    /// The reasons for which a manager holds tasks, until the reader is cancelled.
    static func holdReasons(of manager: URLSessionManager) -> (
        EventLog<HoldReason>, reader: Task<Void, Never>
    ) {
        let (reasons, events) = (EventLog<HoldReason>(), manager.events)
        let reader = Task {
            for await event in events { if case .held(_, let reason) = event { reasons.append(reason) } }
        }
        return (reasons, reader)
    }

    /// Waits for an event.
    @discardableResult
    func wait<Value>(_ pick: (OutboxEvent) -> Value?) async throws -> Value {
        var seen = 0
        while true {
            let all = await events.wait(forCount: seen + 1, within: .seconds(60))
            guard all.count > seen else { throw LabError("not within a minute; but \(all)") }
            for event in all[seen...] { if let value = pick(event) { return value } }
            seen = all.count
        }
    }

    /// Waits until an entry was delivered.
    func delivered(_ id: OutboxID) async throws {
        try await wait { event -> Bool? in
            if case .delivered(id, _) = event { true } else { nil }
        }
    }

    /// Requests `?n=` that have arrived, in order.
    static func numbers(_ statistics: OriginStatistics) -> [Int] {
        statistics.requests.compactMap { line in
            line.split(whereSeparator: { "?&".contains($0) }).first { $0.hasPrefix("n=") }.flatMap {
                Int($0.dropFirst(2))
            }
        }
    }

    /// Makes a file that of the version before entries had names, times, gates and tags.
    static let beforePlans = """
        DROP TABLE downloads; DROP TABLE leftovers; ALTER TABLE limits DROP COLUMN folders;
        ALTER TABLE limits DROP COLUMN file; ALTER TABLE results DROP COLUMN file;
        ALTER TABLE results DROP COLUMN bytes;
        DROP TABLE batches; DROP TABLE spending; DROP TABLE waits;
        DROP TABLE plans; DROP TABLE tags; DROP TABLE gates; DROP INDEX scheduled; DROP INDEX opening;
        ALTER TABLE lanes DROP COLUMN opens; ALTER TABLE lanes DROP COLUMN gates;
        ALTER TABLE results DROP COLUMN successor; ALTER TABLE results DROP COLUMN header;
        ALTER TABLE results DROP COLUMN body;

        """

    static let key = Atomic<Int>(0)
    /// An account at the origin that no other test uses.
    static func account() -> String { "outbox-\(getpid())-\(key.add(1, ordering: .relaxed).newValue)" }
}

extension PreparedEntry {
    init(_ request: OutboxRequest, bodies: BodyFolder, largest: Int64) throws {
        var limits = OutboxLimits()
        limits.maximumBodySize = largest
        try self.init(request, bodies: bodies, limits: limits)
    }
}

extension OutboxRequest {
    init(to url: String, lane: String = "default", priority: Int = 0, body: Body? = nil) throws {
        try self.init(url, method: .post, body: body)
        self.lane = lane
        self.priority = priority
    }
}
