// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import Reachability
public import SessionCore
import Synchronization

/// Speaks to a web service: relative addresses, parameters, decoded responses.
///
///     let api = try HTTPSessionManager(baseURL: "https://api.example.com/v1")
///     let user: User = try await api.get("users/1")
///
/// From any thread. Each manager has connections of its own: make one for each service and keep it.
public final class HTTPSessionManager: Sendable {
    private struct State: ~Copyable {
        var requestSerializer: any RequestSerializer = HTTPRequestSerializer()
        var decoder: any ContentDecoder = JSONDecoder()
    }

    /// What relative addresses are resolved against, with a slash behind its path; nil for absolute ones.
    public let baseURL: URL?
    /// The manager of the tasks: delegate, interceptor, events, snapshots and invalidation are there.
    public let session: URLSessionManager
    private let state = Mutex(State())

    /// A manager.
    ///
    /// - Parameters:
    ///   - baseURL: `http` or `https`; a slash is put behind a path that has none at its end.
    ///   - configuration: limits, proxy and interface of its connections.
    ///   - securityPolicy: how servers are judged; pins need an https base.
    ///   - completionQueue: where blocks are called.
    ///   - queue: when tasks start, and which network they follow.
    /// - Throws: ``SessionError/Code/badURL`` where the base is no such URL, ``SessionError/Code/invalidSecurityPolicy`` for pins without https.
    public init(
        baseURL: String? = nil, configuration: SessionConfiguration = SessionConfiguration(),
        securityPolicy: SecurityPolicy = .default, completionQueue: DeliveryQueue = .own,
        queue: RequestQueue.Settings = RequestQueue.Settings()
    ) throws(SessionError) {
        var base: URL?
        if let baseURL { base = try Self.directory(baseURL) }
        try securityPolicy.validate(forBaseURL: base)
        self.baseURL = base
        session = URLSessionManager(
            configuration: configuration, securityPolicy: securityPolicy, completionQueue: completionQueue,
            queue: queue)
    }

    /// Decides when tasks start, and holds them while there is no network; see ``URLSessionManager/queue``.
    public var queue: RequestQueue { session.queue }

    /// How servers are judged; see ``URLSessionManager/securityPolicy``.
    public var securityPolicy: SecurityPolicy { session.securityPolicy }

    /// Changes how servers are judged.
    ///
    /// - Throws: ``SessionError/Code/invalidSecurityPolicy`` for pins without https; the old policy stays.
    public func setSecurityPolicy(_ policy: SecurityPolicy) throws(SessionError) {
        try policy.validate(forBaseURL: baseURL)
        session.securityPolicy = policy
    }

    /// Puts parameters into requests.
    public var requestSerializer: any RequestSerializer {
        get { state.withLock { $0.requestSerializer } }
        set { state.withLock { $0.requestSerializer = newValue } }
    }

    /// Judges responses, and makes the objects that completion blocks get.
    public var responseSerializer: any ResponseSerializer {
        get { session.responseSerializer }
        set { session.responseSerializer = newValue }
    }

    /// Reads the values of the calls that return one, as `get` does; a plain `JSONDecoder` at first.
    ///
    /// Hand it over ready for the dates and keys of the service: tasks use it from any thread. For another
    /// format than JSON, ``responseSerializer`` has to be of that format too, for its media types.
    public var decoder: any ContentDecoder {
        get { state.withLock { $0.decoder } }
        set { state.withLock { $0.decoder = newValue } }
    }

    /// Where the blocks of the tasks that are made from now on are called.
    public var completionQueue: DeliveryQueue {
        get { session.completionQueue }
        set { session.completionQueue = newValue }
    }

    /// The address as an absolute URL: the reference resolved against ``baseURL`` (RFC 3986 §5).
    ///
    /// - Throws: ``SessionError/Code/badURL`` where the result is neither http nor https.
    public func url(_ address: String) throws(SessionError) -> URL {
        guard let baseURL else { return try URL(spoken: address) }
        guard let url = URIReference(address)?.resolved(against: baseURL), url.isSpoken else {
            throw SessionError(
                .badURL, "\(TextQuote(address)) is no address below \(baseURL.textWithoutUser)")
        }
        return url
    }

    /// A request as this manager sends it.
    ///
    /// - Parameter headers: replace what the serializer puts in, whatever the case of their names.
    /// - Throws: where address, parameters or header fields cannot be used.
    public func request(
        _ method: HTTPRequest.Method, _ address: String, parameters: ParameterValue? = nil,
        headers: [String: String] = [:]
    ) throws(SessionError) -> SessionRequest {
        let plain = SessionRequest(url: try url(address), method: method)
        var request = try requestSerializer.serialize(plain, parameters: parameters)
        for (name, value) in headers { try request.setValue(value, forField: name) }
        return request
    }

    private static func directory(_ text: String) throws(SessionError) -> URL {
        let url = try URL(spoken: text)
        let path = url.path(percentEncoded: true)
        guard !path.isEmpty, !path.hasSuffix("/") else { return url }
        let end = text.firstIndex { $0 == "?" || $0 == "#" } ?? text.endIndex
        return try URL(spoken: "\(text[..<end])/\(text[end...])")
    }
}
