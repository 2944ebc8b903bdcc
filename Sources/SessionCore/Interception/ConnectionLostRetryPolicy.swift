// SPDX-License-Identifier: Apache-2.0

public import HTTPTypes

/// Sends requests again whose connection broke while it was used, and no others.
///
/// Servers close idle connections at any time; the request that meets such a moment fails without anybody's fault.
public struct ConnectionLostRetryPolicy: RequestInterceptor {
    /// The numbers, which may be changed.
    public var policy: RetryPolicy

    /// A policy for these methods.
    public init(
        retryLimit: Int = 2,
        methods: Set<HTTPRequest.Method> = [.delete, .get, .head, .options, .put, .trace]
    ) {
        policy = RetryPolicy()
        policy.retryLimit = retryLimit
        policy.methods = methods
        policy.statusCodes = []
        policy.errorCodes = [.networkConnectionLost]
    }

    /// What the policy says.
    public func retry(
        _ request: SessionRequest, state: RequestState, after error: any Error
    ) async -> RetryDecision { await policy.retry(request, state: state, after: error) }
}
