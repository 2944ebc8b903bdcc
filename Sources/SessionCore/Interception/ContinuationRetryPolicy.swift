// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// Tries again where the connection broke in the middle of content whose rest can be asked for, and nowhere else.
///
/// The server has to tell the content's version (a strong `ETag`, or a `Last-Modified` that counts as one, RFC 9110 §8.8): downloads and
/// streams go on where they were then, so that no byte comes twice.
public struct ContinuationRetryPolicy: RequestInterceptor {
    /// The numbers, which may be changed.
    public var policy: RetryPolicy

    /// A policy that goes on so many times.
    public init(retryLimit: Int = 5) {
        policy = RetryPolicy()
        policy.retryLimit = retryLimit
        policy.methods = [.get]
        policy.statusCodes = []
        policy.errorCodes = [.networkConnectionLost]
    }

    /// What the policy says.
    public func retry(
        _ request: SessionRequest, state: RequestState, after error: any Error
    ) async -> RetryDecision {
        guard goesOn(request, state) else { return .doNotRetry }
        return await policy.retry(request, state: state, after: error)
    }

    private func goesOn(_ request: SessionRequest, _ state: RequestState) -> Bool {
        // Between two tries of what was found to be fit, no answer may come at all, or one that repeats less (RFC 9110 §15.3.7).
        guard let response = state.response else { return state.retryCount > 0 }
        return ResumeRules.canGoOn(request, response: response)
            || state.retryCount > 0 && response.statusCode == 206
    }
}
