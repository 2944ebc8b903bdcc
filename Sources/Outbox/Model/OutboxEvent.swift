// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// An event of an outbox; in order, from the process that caused it.
///
/// Changes by other processes show in lists and counts, not here.
public enum OutboxEvent: Sendable {
    /// Requests were stored: they are on the disk.
    case enqueued([OutboxReceipt])
    /// The server has the request; the entry was removed.
    case delivered(OutboxID, statusCode: Int)
    /// An attempt failed; the next follows at this time.
    case failed(OutboxID, OutboxFailure, nextAttempt: Date)
    /// It waits until then, without a failure: there is no room for its file, for instance.
    case postponed(OutboxID, reason: String, until: Date)
    /// It became a dead letter.
    case died(OutboxID, OutboxFailure)
    /// It expired and was dropped.
    case expired(OutboxID)
    /// It was dropped to make space for a new request.
    case dropped(OutboxID)
    /// Dead letters are waiting again.
    case retried([OutboxID])
    /// Entries were removed on request.
    case removed([OutboxID])
    /// It left because a newer one of its name takes its place.
    case replaced(OutboxID, by: OutboxID)
    /// The time of scheduled entries has come: they wait in their lanes.
    case due([OutboxID])
    /// Periodic work was stored again, as `next`, when its entry `id` ended.
    case repeated(OutboxID, next: OutboxID)
    /// Entries that name this gate wait until it is released.
    case gateHeld(OutboxGate)
    /// A gate was released, or its time was over.
    case gateReleased(String)
    /// Delivery was paused or resumed.
    case paused(Bool)
    /// Requests to this origin, or without TLS (`http`), wait until then or until ``released(_:)``.
    case held(String, reason: String, until: Date?)
    /// Requests to this origin, or without TLS (`http`), no longer wait.
    case released(String)
    /// Whether this process delivers.
    case delivering(Bool)
    /// The database was damaged: it was moved to this path, and so many entries were copied into a new one.
    ///
    /// The other entries' contents are in a folder beside it, `….bodies`. The last three copies are kept.
    case damaged(movedTo: String, reason: String, salvaged: Int)
    /// The outbox's file cannot be written at the moment; outcomes stay in memory until it can. Or it was
    /// removed with its requests, and a new one is begun.
    ///
    /// Published once for each sentence, until ``storageRecovered``.
    case storageFailed(String)
    /// The outbox's file can be used again, after ``storageFailed(_:)``.
    case storageRecovered
}

/// How an entry left the outbox; at least the last thousand results are stored.
public struct OutboxResult: Sendable, Equatable {
    /// The way in which it left.
    public enum Outcome: String, Sendable, Codable {
        /// The server has it; or, of a download, the file is in its place.
        case delivered
        /// It expired.
        case expired
        /// It was dropped to make space for a newer one.
        case dropped
        /// Removed on request.
        case removed
        /// A newer one of its name took its place.
        case replaced
    }

    /// The entry's ID.
    public let id: OutboxID
    /// The way in which it left.
    public let outcome: Outcome
    /// The server's status, if it was delivered.
    public let statusCode: Int?
    /// When it left.
    public let date: Date
    /// The entry that took its place, if it was replaced.
    public let successor: OutboxID?
    /// The beginning of the server's answer, if it was delivered.
    public let reply: OutboxReply?
    /// The file that a download has become.
    public let file: String?
    /// Its size.
    public let fileSize: Int64?

    package init(
        id: OutboxID, outcome: Outcome, statusCode: Int?, date: Date, successor: OutboxID? = nil,
        reply: OutboxReply? = nil, file: String? = nil, fileSize: Int64? = nil
    ) {
        self.id = id
        self.outcome = outcome
        self.statusCode = statusCode
        self.date = date
        self.successor = successor
        self.reply = reply
        self.file = file
        self.fileSize = fileSize
    }
}

/// Tracks which work fails on the outbox's files, so that each failure is reported once.
struct StorageHealth: Sendable {
    /// Work that is retried.
    enum Work: Sendable {
        /// Storing the outcome of a delivery.
        case settling
        /// Searching for entries to send.
        case choosing
        /// Following changes of other processes and of the network.
        case reading
    }

    private var failing: Set<Work> = []
    /// The sentences since everything worked.
    private var reported: Set<String> = []

    /// Records a failure; true if its sentence is new.
    mutating func failed(_ work: Work, _ sentence: String) -> Bool {
        failing.insert(work)
        return reported.insert(sentence).inserted
    }

    /// Records a success; true if everything works again.
    mutating func worked(_ works: Set<Work>) -> Bool {
        guard !failing.isDisjoint(with: works) else { return false }
        failing.subtract(works)
        guard failing.isEmpty else { return false }
        reported = []
        return true
    }
}
