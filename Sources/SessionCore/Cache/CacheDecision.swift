// SPDX-License-Identifier: Apache-2.0

/// What a request may have from the cache.
package enum CacheDecision: Sendable {
    /// Nothing: it goes to the network as it is.
    case load
    /// The stored response; where a request comes with it, the response is stale, and this confirms it meanwhile.
    case use(revalidating: SessionRequest?)
    /// The stored response once this request has confirmed it.
    ///
    /// Where the server fails or cannot be reached and `mayUseStale` holds, it may be used without.
    case revalidate(SessionRequest, mayUseStale: Bool)
    /// Nothing, and the network must not be asked: the task fails.
    case unavailable(SessionError)
}

/// What the answer to a confirming request means.
package enum CacheValidation: Sendable {
    /// The stored content is still good; this entry takes the place of the old one.
    case confirmed(CacheEntry)
    /// The stored response may be used although the server failed.
    case useStale
    /// The answer is a new response.
    case replaced
    /// The answer is of no use: ask again without conditions.
    case reload
}
