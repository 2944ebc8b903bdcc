// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

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
    /// What redirects have made of the request, whose answer led to the question; nil where none was followed.
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
