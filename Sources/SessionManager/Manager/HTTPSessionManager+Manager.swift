// SPDX-License-Identifier: Apache-2.0

public import Reachability
public import SessionCore

// What this manager has in common with a URLSessionManager, by the same names; see there.
extension HTTPSessionManager {
    /// What all its sessions have in common.
    public var configuration: SessionConfiguration { urlSessionManager.configuration }

    /// Decides when tasks start, and holds them while there is no network; see ``URLSessionManager/queue``.
    public var queue: RequestQueue { urlSessionManager.queue }

    /// The session that new tasks belong to; see ``URLSessionManager/session``.
    ///
    /// - Throws: ``SessionError/Code/outOfResources`` where no thread can be started.
    public var session: Session { get throws(SessionError) { try urlSessionManager.session } }

    /// How servers are judged; see ``URLSessionManager/securityPolicy``.
    public var securityPolicy: SecurityPolicy {
        get { urlSessionManager.securityPolicy }
        @available(
            *, unavailable,
            message: "a policy may not fit the base URL: use `try setSecurityPolicy(…)`, which says so"
        )
        set {}
    }

    /// Changes how servers are judged.
    ///
    /// - Throws: ``SessionError/Code/invalidSecurityPolicy`` for pins without https; the old policy stays.
    public func setSecurityPolicy(_ policy: SecurityPolicy) throws(SessionError) {
        try policy.validate(forBaseURL: baseURL)
        urlSessionManager.securityPolicy = policy
    }

    /// Judges responses, and makes the objects that completion blocks get.
    public var responseSerializer: any ResponseSerializer {
        get { urlSessionManager.responseSerializer }
        set { urlSessionManager.responseSerializer = newValue }
    }

    /// Where the blocks of the tasks that are made from now on are called.
    public var completionQueue: DeliveryQueue {
        get { urlSessionManager.completionQueue }
        set { urlSessionManager.completionQueue = newValue }
    }

    /// Takes part in the tasks that are made from now on; see ``URLSessionManager/delegate``.
    public var delegate: (any SessionDelegate)? {
        get { urlSessionManager.delegate }
        set { urlSessionManager.delegate = newValue }
    }

    /// Changes the requests of further tasks before each try, and decides whether failures are tried again.
    public var interceptor: (any RequestInterceptor)? {
        get { urlSessionManager.interceptor }
        set { urlSessionManager.interceptor = newValue }
    }

    /// The response cache of the tasks that are made from now on; nil, the default, stores nothing.
    public var cache: DiskResponseCache? {
        get { urlSessionManager.cache }
        set { urlSessionManager.cache = newValue }
    }

    /// Decides what the tasks that are made from now on store in ``cache``.
    public var cachedResponseHandler: (any CachedResponseHandler)? {
        get { urlSessionManager.cachedResponseHandler }
        set { urlSessionManager.cachedResponseHandler = newValue }
    }

    /// Get every step of the tasks that are made from now on; none unless set.
    public var eventMonitors: [EventMonitor] {
        get { urlSessionManager.eventMonitors }
        set { urlSessionManager.eventMonitors = newValue }
    }

    /// What happens to the tasks, in order, from now on; see ``URLSessionManager/events``.
    public var events: AsyncStream<SessionEvent> { urlSessionManager.events }

    /// The tasks that have not completed: data, then upload, then download tasks, each in order of making.
    public var tasks: [SessionTask] { urlSessionManager.tasks }
    /// The data and stream tasks that have not completed.
    public var dataTasks: [SessionTask] { urlSessionManager.dataTasks }
    /// The upload tasks that have not completed.
    public var uploadTasks: [SessionTask] { urlSessionManager.uploadTasks }
    /// The download tasks that have not completed.
    public var downloadTasks: [SessionTask] { urlSessionManager.downloadTasks }

    /// Takes no more tasks; see ``URLSessionManager/invalidate(cancellingTasks:resettingSession:)``.
    public func invalidate(cancellingTasks: Bool = true, resettingSession: Bool = false) {
        urlSessionManager.invalidate(cancellingTasks: cancellingTasks, resettingSession: resettingSession)
    }
}

// Content that does not belong into memory, by addresses.
extension HTTPSessionManager {
    /// GETs a file: `try await api.download("firmware.bin", to: DownloadDestination("/tmp/firmware.bin"))`.
    ///
    /// - Throws: what hindered the request, the transfer or the writing; the destination is untouched then.
    @discardableResult
    nonisolated(nonsending) public func download(
        _ address: String, to destination: DownloadDestination, parameters: RequestParameters? = nil,
        headers: any RequestHeaders = [String: String](), options: TaskOptions? = nil
    ) async throws(SessionError) -> SessionResponse {
        let request = try request(.get, address, parameters: parameters, headers: headers)
        return try await urlSessionManager.download(request, to: destination, options: options)
    }

    /// GETs the head of a response when it has come, with the content as it comes.
    ///
    /// - Throws: what hindered the transfer before the head came; what comes later is thrown by the stream.
    nonisolated(nonsending) public func stream(
        _ address: String, parameters: RequestParameters? = nil,
        headers: any RequestHeaders = [String: String](), options: TaskOptions? = nil
    ) async throws(SessionError) -> (SessionResponse, ContentStream) {
        let request = try request(.get, address, parameters: parameters, headers: headers)
        return try await urlSessionManager.stream(for: request, options: options)
    }
}
