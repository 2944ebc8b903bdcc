// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import SessionCore

/// A request in an outbox, as far as lists show it.
public struct OutboxEntry: Sendable, Equatable {
    /// Where it is on its way.
    public enum State: String, Sendable, Codable {
        /// It will be sent.
        case waiting
        /// A dead letter: it is sent again only on request (``RequestOutbox/retry(_:)``).
        case dead
    }

    /// Its number.
    public let id: OutboxID
    /// Where it is on its way.
    public let state: State
    /// Its lane.
    public let lane: String
    /// Its lane's rank while it is the oldest there.
    public let priority: Int
    /// As `POST`.
    public let method: String
    /// Where it goes, with the user and the password where the URL has them.
    public let url: String
    /// Which networks it may use.
    public let networkCondition: NetworkCondition
    /// What is sent as `Idempotency-Key`.
    public let idempotencyKey: String
    /// The size of its content in bytes.
    public let bodySize: Int64
    /// When it was taken.
    public let created: Date
    /// After this it is dropped; nil for never.
    public let expires: Date?
    /// How often it was sent without success.
    public let attempts: Int
    /// Not sent before this; nil for as soon as its turn comes.
    public let nextAttempt: Date?
    /// Why the last try failed; nil before the first.
    public let failure: OutboxFailure?
    /// Why it is not sent at the moment although its turn has come: its server refuses everything, or the
    /// network wants a sign-in; nil where neither is so.
    public let hold: String?
    /// After so many failures it becomes a dead letter; nil for what holds for all.
    public let maximumAttempts: Int?

    /// ``url`` without user and password: for lists.
    package var shownURL: String {
        URL(string: url, encodingInvalidCharacters: false)?.textWithoutUser ?? url
    }

    package init(
        id: OutboxID, state: State, lane: String, priority: Int, method: String, url: String,
        networkCondition: NetworkCondition, idempotencyKey: String, bodySize: Int64, created: Date,
        expires: Date?, attempts: Int, nextAttempt: Date?, failure: OutboxFailure?,
        hold: String? = nil, maximumAttempts: Int? = nil
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
    }
}

/// How much is in an outbox.
public struct OutboxCounts: Sendable, Equatable {
    /// Entries that will be sent.
    public var waiting = 0
    /// Dead letters.
    public var dead = 0
    /// The content of both, in bytes.
    public var bytes: Int64 = 0
    /// When the oldest waiting entry was taken; nil where there is none.
    public var oldest: Date?
    /// Whether delivery is paused.
    public var isPaused = false

    package init() {}
}

/// What a server said to a request.
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
