// SPDX-License-Identifier: Apache-2.0

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
/// Adapters get the request one after the other, each what the one before made of it; the first error ends it. Retriers are
/// asked one after the other until one decides otherwise than ``RetryDecision/doNotRetry``.
public struct Interceptor: RequestInterceptor {
    private let adapters: [any RequestAdapter]
    private let retriers: [any RequestRetrier]

    /// The adapters and then the interceptors adapt; the retriers and then the interceptors decide about retries.
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
