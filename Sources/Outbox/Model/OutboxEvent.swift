// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// What happened in an outbox; in order, from the process that did it.
///
/// What other processes enqueue, retry or remove shows in lists and counts, not here.
public enum OutboxEvent: Sendable {
    /// Requests were stored: they are on the disk.
    case enqueued([OutboxReceipt])
    /// The server has it, and it is out of the outbox.
    case delivered(OutboxID, statusCode: Int)
    /// A try failed; it will be sent again at this time.
    case failed(OutboxID, OutboxFailure, nextAttempt: Date)
    /// It became a dead letter.
    case died(OutboxID, OutboxFailure)
    /// It expired and was dropped.
    case expired(OutboxID)
    /// It had to give way to a new request.
    case dropped(OutboxID)
    /// Dead letters are waiting again.
    case retried([OutboxID])
    /// Entries were removed on request.
    case removed([OutboxID])
    /// Delivery was paused or resumed.
    case paused(Bool)
    /// What goes to this origin waits until then, or until ``released(_:)``; `http` stands for everything without TLS.
    case held(String, reason: String, until: Date?)
    /// What goes to this origin, or without TLS (`http`), waits no longer.
    case released(String)
    /// This process delivers from now on, or no longer.
    case delivering(Bool)
    /// The database was damaged: it was moved to this path, and so many entries were carried over into a new
    /// one.
    ///
    /// The contents of those which could not be are in a folder beside it, whose name ends with `.bodies`.
    /// The last three are kept.
    case damaged(movedTo: String, reason: String, salvaged: Int)
    /// The outbox's file cannot be written at the moment; what was delivered stays in mind and is removed as
    /// soon as it can be.
    ///
    /// Published once for each sentence, until ``storageRecovered``.
    case storageFailed(String)
    /// The outbox's file can be used again, after ``storageFailed(_:)``.
    case storageRecovered
}

/// How an entry left the outbox; the last thousand are remembered.
public struct OutboxResult: Sendable, Equatable {
    /// In which way.
    public enum Outcome: String, Sendable, Codable {
        /// The server has it.
        case delivered
        /// It expired.
        case expired
        /// It gave way to a newer one.
        case dropped
        /// Removed on request.
        case removed
    }

    /// The entry.
    public let id: OutboxID
    /// In which way.
    public let outcome: Outcome
    /// The server's status, where it was delivered.
    public let statusCode: Int?
    /// When.
    public let date: Date

    package init(id: OutboxID, outcome: Outcome, statusCode: Int?, date: Date) {
        self.id = id
        self.outcome = outcome
        self.statusCode = statusCode
        self.date = date
    }
}
