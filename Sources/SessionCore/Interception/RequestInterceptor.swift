// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Adapts requests and decides about retries; whatever it does not implement changes nothing.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    /// The request as it is.
    public func adapt(_ request: SessionRequest, state: RequestState) async throws -> SessionRequest {
        request
    }
    /// No retry.
    public func retry(
        _ request: SessionRequest, state: RequestState, after error: any Error
    ) async -> RetryDecision { .doNotRetry }
}

/// Several adapters and retriers as one interceptor.
///
/// Adapters get the request one after the other, each what the one before made of it; the first error ends
/// it. Retriers are asked one after the other until one decides otherwise than ``RetryDecision/doNotRetry``.
public struct Interceptor: RequestInterceptor {
    private let adapters: [any RequestAdapter]
    private let retriers: [any RequestRetrier]

    /// Adapters, then interceptors adapt; retriers, then interceptors decide about retries.
    public init(
        adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) {
        self.adapters = adapters + interceptors
        self.retriers = retriers + interceptors
    }

    /// That of a manager and that of one request: the manager's comes first; nil where there is neither.
    public static func combining(
        manager: (any RequestInterceptor)?, request: (any RequestInterceptor)?
    ) -> (any RequestInterceptor)? {
        guard let manager else { return request }
        guard let request else { return manager }
        return Interceptor(interceptors: [manager, request])
    }

    /// What the adapters make of the request.
    public func adapt(_ request: SessionRequest, state: RequestState) async throws -> SessionRequest {
        var request = request
        for adapter in adapters { request = try await adapter.adapt(request, state: state) }
        return request
    }

    /// The first decision that is not ``RetryDecision/doNotRetry``.
    public func retry(
        _ request: SessionRequest, state: RequestState, after error: any Error
    ) async -> RetryDecision {
        for retrier in retriers {
            let decision = await retrier.retry(request, state: state, after: error)
            if case .doNotRetry = decision { continue }
            return decision
        }
        return .doNotRetry
    }
}

/// Changes requests before they are sent, for instance signs them.
public protocol RequestAdapter: Sendable {
    /// The request to send instead; asked again before each retry.
    ///
    /// - Throws: what the task fails with; nothing is sent then, and only retriers are still asked.
    func adapt(_ request: SessionRequest, state: RequestState) async throws -> SessionRequest
}

/// An adapter that is a closure.
public struct Adapter: RequestAdapter {
    private let change: @Sendable (SessionRequest, RequestState) async throws -> SessionRequest

    /// An adapter that calls the closure.
    public init(_ change: @escaping @Sendable (SessionRequest, RequestState) async throws -> SessionRequest) {
        self.change = change
    }

    /// What the closure answers.
    public func adapt(_ request: SessionRequest, state: RequestState) async throws -> SessionRequest {
        try await change(request, state)
    }
}

/// Whether a request that failed is sent again.
public enum RetryDecision: Sendable {
    /// At once.
    case retry
    /// After a pause.
    case retryAfter(Duration)
    /// Not because of this retrier; the next one is asked, and behind the last one the task fails.
    case doNotRetry
    /// Not at all, and this is the error; no other retrier is asked.
    case doNotRetryWithError(any Error)
}

/// Decides whether a request that failed is sent again.
public protocol RequestRetrier: Sendable {
    /// The decision after a failure of adapters, transfer, validation or serialization; not after cancelling.
    ///
    /// Content that is not wanted as an object (a stream, a file, plain data) is not serialized for that.
    ///
    /// - Parameters:
    ///   - request: what another try sends: as the adapters have made it, from before any redirect.
    ///   - state: where it stands; ``RequestState/redirectedRequest`` is what has failed behind a redirect.
    ///   - error: why it failed.
    func retry(_ request: SessionRequest, state: RequestState, after error: any Error) async -> RetryDecision
}

/// A retrier that is a closure.
public struct Retrier: RequestRetrier {
    private let decide: @Sendable (SessionRequest, RequestState, any Error) async -> RetryDecision

    /// A retrier that calls the closure.
    public init(
        _ decide: @escaping @Sendable (SessionRequest, RequestState, any Error) async -> RetryDecision
    ) { self.decide = decide }

    /// What the closure answers.
    public func retry(
        _ request: SessionRequest, state: RequestState, after error: any Error
    ) async -> RetryDecision { await decide(request, state, error) }
}

/// Where a request stands when an adapter or a retrier is asked about it.
///
/// It brings the time with it, so that the decisions can be replayed.
public struct RequestState: Sendable {
    /// A number that no other request of the process has; the same for all its tries.
    public let identifier: Int
    /// How many tries there were besides the first; 0 for the first.
    public let retryCount: Int
    /// The head of the response that led to the question; nil before a request is sent, and where none came.
    public let response: SessionResponse?
    /// The redirected request whose answer led to the question; nil where no redirect was followed.
    ///
    /// Another try sends the request itself, from before any redirect.
    public let redirectedRequest: SessionRequest?
    /// The time of the wall clock.
    public let date: Date
    /// The time that does not jump.
    public let instant: ContinuousClock.Instant

    /// A state.
    public init(
        identifier: Int, retryCount: Int = 0, response: SessionResponse? = nil,
        redirectedRequest: SessionRequest? = nil, date: Date, instant: ContinuousClock.Instant
    ) {
        self.identifier = identifier
        self.retryCount = retryCount
        self.response = response
        self.redirectedRequest = redirectedRequest
        self.date = date
        self.instant = instant
    }
}
