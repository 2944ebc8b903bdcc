// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import HTTPTypes
public import SessionCore

/// What an outbox is to send, and how.
public struct OutboxRequest: Sendable {
    /// The content.
    public enum Body: Sendable, Equatable {
        /// Bytes in memory.
        case data(Data)
        /// The content of this file; it is copied, so it may be removed once the request was taken.
        case file(path: String)
    }

    /// Where it goes; `http` or `https`.
    public var url: URL
    /// The method.
    public var method: HTTPRequest.Method
    /// What is sent as it stands here; stored in the outbox's file.
    public var headerFields: HTTPFields
    /// Fields whose values are looked up when the request is sent, and are never stored.
    public var secretFields: [SecretField] = []
    /// The content; nil for none.
    public var body: Body?
    /// Requests of one lane are delivered one after the other, in the order in which they were taken; lanes
    /// do not wait for each other.
    public var lane = "default"
    /// Which lane goes first where not all can at once: that whose oldest request has the greater number.
    public var priority = 0
    /// Which networks it may use.
    public var networkCondition = NetworkCondition.any
    /// After this it is worth nothing: it is dropped instead of sent; nil for never.
    ///
    /// What is on its way then is waited for; what waits for a network is not.
    ///
    /// By the device's clock. Where that is set later, this moves with it, so that an hour stays an hour on a
    /// device that starts in 1970; not so where it is more than a year away, which makes it a date, nor after
    /// the machine was started again.
    public var expires: Date?
    /// How long the server may be silent, and so how long it may take for its answer; nil for the timeout of
    /// the outbox, zero for ever.
    ///
    /// Doubled with each try that was sent whole and got no answer in time.
    public var timeout: Duration?
    /// After so many failures it becomes a dead letter; nil for what the outbox's
    /// ``RetrySchedule/maximumAttempts`` says.
    public var maximumAttempts: Int?
    /// What the server recognises a repeated delivery by; nil makes a random one.
    ///
    /// A request with the key of one that is still there is not taken twice: so a program that was killed
    /// before it got its receipt may hand over the same again. One with another URL, method or content is
    /// refused (``OutboxError/Code/keyTaken``). An `Idempotency-Key` among ``headerFields`` counts as this.
    public var idempotencyKey: String?

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
    /// The field's name, as `Authorization`.
    public var name: String
    /// What comes before the secret, as `Bearer `; stored.
    public var prefix: String
    /// The source: `env`, `file`, or a name that the program has registered.
    public var source: String
    /// What the source is asked for: a variable's name, a path.
    public var key: String

    /// A field.
    public init(name: String, prefix: String = "", source: String, key: String) {
        self.name = name
        self.prefix = prefix
        self.source = source
        self.key = key
    }

    /// `env:NAME` or `file:PATH`, as commands write it; nil without a colon.
    public init?(name: String, prefix: String = "", reference: String) {
        guard let colon = reference.firstIndex(of: ":") else { return nil }
        self.init(
            name: name, prefix: prefix, source: String(reference[..<colon]),
            key: String(reference[reference.index(after: colon)...]))
    }
}
