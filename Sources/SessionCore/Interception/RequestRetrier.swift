// SPDX-License-Identifier: Apache-2.0

/// Whether a request that failed is sent again.
public enum RetryDecision: Sendable {
    /// At once.
    case retry
    /// After a pause.
    case retryAfter(Duration)
    /// Not because of this retrier; the next one is asked, and where none is left the task fails with its error.
    case doNotRetry
    /// Not at all, and this is the error; no other retrier is asked.
    case doNotRetryWithError(any Error)
}

/// Decides whether a request that failed is sent again.
public protocol RequestRetrier: Sendable {
    /// The decision; asked after failures of adapters, transfer, validation and serialization, not after cancelling.
    ///
    /// Content that nobody wants as an object (a stream, a file, plain data) is not serialized, and so no reason to be asked.
    ///
    /// - Parameters:
    ///   - request: what another try sends: as the adapters have made it, from before any redirect.
    ///   - state: where it stands; ``RequestState/redirectedRequest`` is what has failed behind a redirect.
    ///   - error: why it failed.
    func retry(
        _ request: SessionRequest, state: RequestState, after error: any Error
    ) async -> RetryDecision
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
