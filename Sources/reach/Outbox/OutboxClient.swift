// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Outbox
import Reachability

/// The outbox of commands: through a running service, or its files.
protocol OutboxClient: Sendable {
    func enqueue(_ request: OutboxRequest) async throws -> OutboxReceipt
    /// Waits until the entry has left the outbox or is a dead letter.
    func settlement(of id: OutboxID) async throws -> EntrySettlement
    /// Starts delivery in this process, unless another process delivers.
    func deliver() async throws
    func pause() async throws
    func resume() async throws
    func flush() async throws
    func hold(gate name: String, reason: String, for time: Duration?) async throws
    /// Whether it was held.
    func release(gate name: String) async throws -> Bool
    func gates() async throws -> [OutboxGate]
}

/// How an entry ended.
struct EntrySettlement: Sendable {
    /// `delivered`, `expired`, `dropped`, `removed`, `replaced`, `dead` or `unknown`.
    var outcome: String
    var statusCode: Int?
    var failure: OutboxFailure.Kind?
    var reason: String?
    /// The message for people if it was not delivered.
    var message: String?
    /// The entry that took its place.
    var successor: OutboxID?
    /// The beginning of the server's answer.
    var reply: OutboxReply?
    /// The file that a download has become, and its size.
    var file: String?
    var fileSize: Int64?
}

extension EntrySettlement {
    init(_ settlement: OutboxSettlement) {
        switch settlement {
        case .left(let result):
            let outcome = result.outcome.rawValue
            self.init(
                outcome: outcome, statusCode: result.statusCode,
                message: Self.message(outcome, result.successor), successor: result.successor,
                reply: result.reply, file: result.file, fileSize: result.fileSize)
        case .dead(let entry):
            let reason = entry.failure?.message
            self.init(
                outcome: "dead", statusCode: entry.failure?.statusCode, failure: entry.failure?.kind,
                reason: reason,
                message: "\(reason ?? "it cannot be delivered"); 'reach queue show \(entry.id)' has more")
        case .unknown: self.init(outcome: "unknown")
        }
    }

    static func message(_ outcome: String, _ successor: OutboxID?) -> String {
        let by = successor.map { " by request \($0)" } ?? ""
        return "it was \(outcome)\(by), and not delivered"
    }
}

/// Works on the outbox's files.
struct LocalOutboxClient: OutboxClient {
    let outbox: RequestOutbox

    func enqueue(_ request: OutboxRequest) async throws -> OutboxReceipt { try await outbox.enqueue(request) }

    func settlement(of id: OutboxID) async throws -> EntrySettlement {
        var settlement = EntrySettlement(try await outbox.settlement(of: id))
        if settlement.outcome == "dead" { settlement.reply = try await outbox.reply(to: id) }
        return settlement
    }

    func deliver() async throws {
        let manager = URLSessionManager(sockets: nil, responseSerializer: HTTPResponseSerializer())
        do {
            try await outbox.startDelivery(with: manager)
        } catch let error as OutboxError where error.code == .deliveredElsewhere {
            return
        }
    }

    func pause() async throws { try await outbox.pause() }
    func resume() async throws { try await outbox.resume() }
    func flush() async throws { try await outbox.flush() }

    func hold(gate name: String, reason: String, for time: Duration?) async throws {
        try await outbox.hold(
            gate: name, reason: reason, until: time.map { Date(timeIntervalSinceNow: $0 / .seconds(1)) })
    }

    func release(gate name: String) async throws -> Bool { try await outbox.release(gate: name) }
    func gates() async throws -> [OutboxGate] { try await outbox.gates() }
}
