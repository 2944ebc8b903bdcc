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
        var encoder: any ContentEncoder = JSONCoding.sharedEncoder
        var decoder: any ContentDecoder = JSONCoding.sharedDecoder
        var defaultHeaders = DefaultHeaders()
        var timeoutInterval: Duration?
    }

    /// What relative addresses are resolved against, with a slash behind its path; nil for absolute ones.
    public let baseURL: URL?
    /// The manager of the tasks, which knows no base; what both have is one.
    public let urlSessionManager: URLSessionManager
    private let state = Mutex(State())

    /// A manager.
    ///
    /// - Parameters:
    ///   - baseURL: `http` or `https`, or a socket of this machine, `http+unix://%2Frun%2Fsnapd.socket`; a slash is
    ///     put behind a path that has none at its end.
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
        urlSessionManager = URLSessionManager(
            configuration: configuration, securityPolicy: securityPolicy, completionQueue: completionQueue,
            queue: queue)
    }

    /// A manager over one that was made elsewhere.
    package init(baseURL: String?, urlSessionManager: URLSessionManager) throws(SessionError) {
        self.baseURL = try baseURL.map { (text) throws(SessionError) in try Self.directory(text) }
        self.urlSessionManager = urlSessionManager
    }

    /// Puts parameters into requests.
    public var requestSerializer: any RequestSerializer {
        get { state.withLock { $0.requestSerializer } }
        set { state.withLock { $0.requestSerializer = newValue } }
    }

    /// Writes the values of `json:`; an encoder of ``SessionCore/JSONCoding`` at first.
    ///
    /// Hand it over ready for the dates and keys of the service: calls use it from any thread.
    public var encoder: any ContentEncoder {
        get { state.withLock { $0.encoder } }
        set { state.withLock { $0.encoder = newValue } }
    }

    /// Reads the values of the calls that return one, as `get` does; a decoder of ``SessionCore/JSONCoding``
    /// at first, with dates of ISO 8601.
    ///
    /// Hand it over ready for the dates and keys of the service: tasks use it from any thread. For another
    /// format than JSON, ``responseSerializer`` has to be of that format too, for its media types.
    public var decoder: any ContentDecoder {
        get { state.withLock { $0.decoder } }
        set { state.withLock { $0.decoder = newValue } }
    }

    /// What each request of this manager carries: `api.defaultHeaders["X-Device"] = "7"`.
    ///
    /// In place of the serializer's own of the same names; the `headers` of a call replace both.
    public var defaultHeaders: DefaultHeaders {
        get { state.withLock { $0.defaultHeaders } }
        set { state.withLock { $0.defaultHeaders = newValue } }
    }

    /// How long a transfer of this manager may be silent; nil, the default, leaves it at what the serializer
    /// says, or 60 s.
    ///
    /// As ``SessionCore/RequestOptions/timeoutInterval``: zero is no limit.
    public var timeoutInterval: Duration? {
        get { state.withLock { $0.timeoutInterval } }
        set { state.withLock { $0.timeoutInterval = newValue } }
    }

    /// The address as an absolute URL: the reference resolved against ``baseURL`` (RFC 3986 §5).
    ///
    /// - Throws: ``SessionError/Code/badURL`` where the result is neither http nor https.
    public func url(_ address: String) throws(SessionError) -> URL {
        guard let baseURL else { return try URL(carried: address) }
        guard let url = URIReference(address)?.resolved(against: baseURL), url.isCarried else {
            throw SessionError(
                .badURL, "\(TextQuote(address)) is no address below \(baseURL.textWithoutUser)")
        }
        return url
    }

    private static func directory(_ text: String) throws(SessionError) -> URL {
        let url = try URL(carried: text)
        let path = url.path(percentEncoded: true)
        guard !path.isEmpty, !path.hasSuffix("/") else { return url }
        let end = text.firstIndex { $0 == "?" || $0 == "#" } ?? text.endIndex
        return try URL(carried: "\(text[..<end])/\(text[end...])")
    }
}
