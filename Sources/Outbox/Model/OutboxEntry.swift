// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SessionCore

/// A request in an outbox, with the attributes that lists show.
public struct OutboxEntry: Sendable, Equatable {
    /// The state of delivery.
    public enum State: String, Sendable, Codable {
        /// It will be sent.
        case waiting
        /// A dead letter: it is sent again only on request (``RequestOutbox/retry(_:)-([OutboxID]?)``).
        case dead
        /// Its time has not come yet (``OutboxRequest/notBefore``); it does not hold up its lane.
        case scheduled
    }

    /// Its number.
    public let id: OutboxID
    /// The state of delivery.
    public let state: State
    /// Its lane.
    public let lane: String
    /// The lane's priority while this is its oldest entry.
    public let priority: Int
    /// For example `POST`.
    public let method: String
    /// The destination, with user and password if the URL has them.
    public let url: String
    /// Which networks it may use.
    public let networkCondition: NetworkCondition
    /// The value of `Idempotency-Key`.
    public let idempotencyKey: String
    /// The size of its content in bytes.
    public let bodySize: Int64
    /// When it was stored.
    public let created: Date
    /// When it is dropped; nil for never.
    public let expires: Date?
    /// The number of failed attempts.
    public let attempts: Int
    /// The earliest time of the next attempt, or of a scheduled entry's first; nil for as soon as its turn
    /// comes.
    public let nextAttempt: Date?
    /// The failure of the last attempt; nil before the first.
    public let failure: OutboxFailure?
    /// Why it is not sent at the moment although its turn has come; nil if nothing holds it.
    ///
    /// A gate is held, its window is closed, a newer one takes its place, its lane has spent its budget for
    /// the day, its server refuses everything, the network wants a sign-in, no uplink has internet, or this
    /// machine's clock is not set. Where this outbox delivers, also why its manager holds it, such as the
    /// network that is missing.
    public internal(set) var hold: String?
    /// The number of failures that makes it a dead letter; nil for the schedule's limit.
    public let maximumAttempts: Int?
    /// The name of which only the newest is sent; nil for none.
    public let replaces: String?
    /// Its tags, sorted.
    public let tags: [String]
    /// The time before which it was not to be sent, without the part for spreading; nil for none.
    public let notBefore: Date?
    /// The time of day in which it is sent; nil for any.
    public let window: OutboxWindow?
    /// The period of periodic work.
    public let every: Duration?
    /// The gates that it names, sorted.
    public let gates: [String]
    /// The entry that takes its place once the attempt under way has ended; nil for none.
    public let successor: OutboxID?
    /// The file that a download becomes; nil for other requests.
    public let file: String?
    /// The SHA-256 that a download has to have; nil without one.
    public let sha256: String?
    /// Other URLs of a download.
    public let mirrors: [String]

    /// ``url`` without user and password: for lists.
    package var shownURL: String {
        URL(string: url, encodingInvalidCharacters: false)?.textWithoutUser ?? url
    }

    package init(
        id: OutboxID, state: State, lane: String, priority: Int, method: String, url: String,
        networkCondition: NetworkCondition, idempotencyKey: String, bodySize: Int64, created: Date,
        expires: Date?, attempts: Int, nextAttempt: Date?, failure: OutboxFailure?,
        hold: String? = nil, maximumAttempts: Int? = nil, replaces: String? = nil, tags: [String] = [],
        notBefore: Date? = nil, window: OutboxWindow? = nil, every: Duration? = nil, gates: [String] = [],
        successor: OutboxID? = nil, file: String? = nil, sha256: String? = nil, mirrors: [String] = []
    ) {
        self.id = id
        self.state = state
        self.lane = lane
        self.priority = priority
        self.method = method
        self.url = url
        self.networkCondition = networkCondition
        self.idempotencyKey = idempotencyKey
        self.bodySize = bodySize
        self.created = created
        self.expires = expires
        self.attempts = attempts
        self.nextAttempt = nextAttempt
        self.failure = failure
        self.hold = hold
        self.maximumAttempts = maximumAttempts
        self.replaces = replaces
        self.tags = tags
        self.notBefore = notBefore
        self.window = window
        self.every = every
        self.gates = gates
        self.successor = successor
        self.file = file
        self.sha256 = sha256
        self.mirrors = mirrors
    }
}

/// The contents of an outbox in numbers.
public struct OutboxCounts: Sendable, Equatable {
    /// Entries that will be sent, the scheduled ones included.
    public var waiting = 0
    /// Dead letters.
    public var dead = 0
    /// The content of both, in bytes.
    public var bytes: Int64 = 0
    /// When the oldest waiting entry was stored; nil if there is none.
    ///
    /// Scheduled ones do not count.
    public var oldest: Date?
    /// Whether delivery is paused.
    public var isPaused = false

    package init() {}
}

/// A server's answer to a request.
public struct OutboxReply: Sendable, Equatable {
    /// The status code.
    public let statusCode: Int
    /// The header fields, one `Name: value` a line.
    public let header: String
    /// The beginning of the content; at most ``OutboxLimits/maximumReplySize`` bytes.
    public let body: Data

    package init(statusCode: Int, header: String, body: Data) {
        self.statusCode = statusCode
        self.header = header
        self.body = body
    }
}
