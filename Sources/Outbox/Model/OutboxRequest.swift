// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import HTTPTypes
public import SessionCore

/// A request for an outbox, and how it is delivered.
public struct OutboxRequest: Sendable {
    /// The content.
    public enum Body: Sendable, Equatable {
        /// Bytes in memory.
        case data(Data)
        /// The content of this file, which is copied and may be removed once the request is stored.
        case file(path: String)
    }

    /// The destination; `http` or `https`.
    public var url: URL
    /// The method; not `CONNECT`.
    public var method: HTTPRequest.Method
    /// Header fields that are sent unchanged and stored in the outbox's file; without `Content-Length` and
    /// `Transfer-Encoding`, which follow from the content.
    public var headerFields: HTTPFields
    /// Fields whose values are looked up when the request is sent, and are never stored.
    public var secretFields: [SecretField] = []
    /// The content; nil for none.
    public var body: Body?
    /// Requests of one lane are delivered one by one, in order; lanes do not wait for each other.
    public var lane = "default"
    /// The lane whose oldest request has the greater number is served first, if not all can be sent at once.
    public var priority = 0
    /// Which networks it may use.
    public var networkCondition = NetworkCondition.any
    /// When the request is dropped instead of sent; nil for never.
    ///
    /// A request in flight is completed; one that waits for a network is dropped.
    ///
    /// By the device's clock. If that is set later, this time moves with it, so that an hour stays an hour on
    /// a device that starts in 1970; but not if it is over a year away, a date then, nor after a restart.
    public var expires: Date?
    /// How long the server may be silent or answer; nil for the outbox's timeout, zero for ever.
    ///
    /// Doubled after each attempt that was sent completely and not answered in time.
    public var timeout: Duration?
    /// The failures that make it a dead letter; nil for the outbox's ``RetrySchedule/maximumAttempts``.
    public var maximumAttempts: Int?
    /// The key by which the server recognises a repeated delivery; nil makes a random one.
    ///
    /// A request with the key of a stored one is not stored twice: a program that was killed before it got
    /// its receipt may pass the same request again. One with another URL, method or content is refused
    /// (``OutboxError/Code/keyTaken``). An `Idempotency-Key` among ``headerFields`` counts as this.
    public var idempotencyKey: String?
    /// A name for work of which only the newest matters, such as a state; nil for none.
    ///
    /// Of the waiting requests with this name only the newest is sent: the older ones leave the outbox as
    /// ``OutboxResult/Outcome/replaced``, and one that is on its way ends first, without a further attempt.
    /// The name belongs to one lane while requests with it wait. 1 to 200 bytes without control characters.
    public var replaces: String?
    /// What happens when a request with the name ``replaces`` waits already; ``Uniqueness/replace``.
    public var unique = Uniqueness.replace
    /// Short names by which entries are listed and removed: at most 32 of 1 to 64 bytes.
    public var tags: Set<String> = []
    /// When it is sent at the earliest; nil for at once.
    ///
    /// Until then it does not hold up its lane, in which it then takes the place of its number. Moves with a
    /// clock that is set as ``expires`` does.
    public var notBefore: Date?
    /// The time of day in which it is sent; outside of it, its lane waits with it.
    ///
    /// Nil for any time.
    public var window: OutboxWindow?
    /// A random part of this is added to ``notBefore`` and to each opening of ``window``, so that a fleet
    /// does not report at the same second; zero, at most 366 days.
    ///
    /// Chosen once, when the request is stored, and never beyond the end of the window.
    public var spread: Duration = .zero
    /// The period of work that is stored again, with a new key, when it was delivered, has expired or
    /// became a dead letter; nil for once.
    ///
    /// 1 minute to 366 days; needs a name (``replaces``).
    ///
    /// The times follow from ``notBefore``, or from when it was stored; missed ones are not made up. It ends
    /// when it is removed or replaced. Of its dead letters the newest is kept.
    public var every: Duration?
    /// The gates that hold it up while they are held (``RequestOutbox/hold(gate:reason:until:)``), its lane
    /// with it: at most 16 names of 1 to 64 bytes.
    public var gates: Set<String> = []

    /// What becomes of the server's content; nil for a request whose answer alone counts.
    ///
    /// A download is sent by GET without content: see ``OutboxRequest/download(_:to:sha256:mirrors:)``.
    public var download: OutboxDownload?

    /// What happens to a request whose name is taken.
    public enum Uniqueness: String, Sendable, Codable {
        /// It takes the place of those that wait.
        case replace
        /// It is not stored; its receipt names the one that waits.
        case keep
    }

    /// A request.
    public init(
        url: URL, method: HTTPRequest.Method = .post, headerFields: HTTPFields = HTTPFields(),
        body: Body? = nil
    ) {
        self.url = url
        self.method = method
        self.headerFields = headerFields
        self.body = body
    }

    /// A request for an address written as text.
    ///
    /// - Throws: ``SessionCore/SessionError/Code/badURL`` where the text is no absolute `http` or `https` URL.
    public init(
        _ address: String, method: HTTPRequest.Method = .post, headerFields: HTTPFields = HTTPFields(),
        body: Body? = nil
    ) throws(SessionError) {
        self.init(url: try URL(spoken: address), method: method, headerFields: headerFields, body: body)
    }
}

/// A header field whose value is looked up when the request is sent.
public struct SecretField: Sendable, Hashable {
    /// The field's name, for example `Authorization`.
    public var name: String
    /// The text before the secret, for example `Bearer `; stored.
    public var prefix: String
    /// The source: `env`, `file`, or a name that the program has registered.
    public var source: String
    /// The key for the source: a variable's name, a path.
    public var key: String

    /// A field.
    public init(name: String, prefix: String = "", source: String, key: String) {
        self.name = name
        self.prefix = prefix
        self.source = source
        self.key = key
    }

    /// `env:NAME` or `file:PATH`, as in commands; nil without a colon.
    public init?(name: String, prefix: String = "", reference: String) {
        guard let colon = reference.firstIndex(of: ":") else { return nil }
        self.init(
            name: name, prefix: prefix, source: String(reference[..<colon]),
            key: String(reference[reference.index(after: colon)...]))
    }
}
