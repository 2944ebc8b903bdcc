// SPDX-License-Identifier: Apache-2.0

public import HTTPTypes

/// Sends requests again that may be sent again, after failures that may pass, with growing pauses.
///
/// Without `Retry-After` the pause before the nth retry is a random part of `scale · base ^ (n − 1)` seconds
/// ("full jitter"), so that devices which lost the same server do not return all at once.
public struct RetryPolicy: RequestInterceptor {
    /// How the pauses are spread.
    public enum Jitter: Sendable {
        /// Not at all: the full pause.
        case none
        /// Anything between nothing and the full pause, each as likely.
        case full
    }

    /// How often a request is sent again; 2.
    public var retryLimit = 2
    /// The base of the exponential, at least 1; 2.
    public var base = 2.0
    /// The first pause in seconds, before jitter; 0.5.
    public var scale = 0.5
    /// How the pauses are spread.
    public var jitter = Jitter.full
    /// The longest pause; 120 s.
    ///
    /// Where a server asks for a longer one, the request is not sent again.
    public var maximumDelay: Duration = .seconds(120)
    /// Whether `Retry-After` counts (RFC 9110 §10.2.3); true.
    ///
    /// The pause comes on top of it.
    public var respectsRetryAfter = true
    /// The methods of requests that may be sent again; those that are idempotent (RFC 9110 §9.2.2).
    ///
    /// A request with an `Idempotency-Key` may be sent again whatever its method.
    public var methods: Set<HTTPRequest.Method> = [.delete, .get, .head, .options, .put, .trace]
    /// The statuses that may pass.
    public var statusCodes: Set<Int> = [408, 500, 502, 503, 504]
    /// The failures that may pass, by the numbers of Cocoa.
    public var errorCodes: Set<SessionError.Code> = RetryPolicy.passingFailures

    /// The policy with Alamofire's numbers, jitter and `Retry-After`.
    public init() {}

    /// What the policy says of a failed request, with random numbers from `generator`.
    public func decide(
        _ request: SessionRequest, state: RequestState, after error: any Error,
        using generator: inout some RandomNumberGenerator
    ) -> RetryDecision {
        guard state.retryCount < retryLimit, isRepeatable(request), request.body?.isRewindable ?? true else {
            return .doNotRetry
        }
        let failures = SessionError.chain(of: error)
        let response = state.response ?? failures.lazy.compactMap(\.response).first
        guard isPassing(failures, response) else { return .doNotRetry }
        var delay = backoff(state.retryCount, using: &generator)
        if respectsRetryAfter, let response,
            let requested = RetryAfter.delay(in: response, now: HTTPDate(state.date))
        {
            guard requested <= maximumDelay else { return .doNotRetry }
            delay = min(requested + delay, max(requested, maximumDelay))
        }
        return delay > .zero ? .retryAfter(delay) : .retry
    }

    /// What the policy says, with the system's random numbers.
    public func retry(
        _ request: SessionRequest, state: RequestState, after error: any Error
    ) async -> RetryDecision {
        var generator = SystemRandomNumberGenerator()
        return decide(request, state: state, after: error, using: &generator)
    }

    private func isRepeatable(_ request: SessionRequest) -> Bool {
        methods.contains(request.method) || request.hasIdempotencyKey
    }

    /// Whether the failure may pass: an unacceptable status by its number, everything else by its kind.
    private func isPassing(_ failures: [SessionError], _ response: SessionResponse?) -> Bool {
        if let status = response?.statusCode, statusCodes.contains(status) { return true }
        return failures.contains {
            // This code is also that of every status that was not accepted, a 404 for instance.
            errorCodes.contains($0.code) && ($0.code != .badServerResponse || response == nil)
        }
    }

    private func backoff(_ retryCount: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        var seconds = max(scale, 0)
        let limit =
            Double(maximumDelay.components.seconds) + Double(maximumDelay.components.attoseconds) * 1e-18
        // Multiplied step by step: no power overflows on the way to a limit.
        for _ in 0..<retryCount where seconds < limit { seconds *= max(base, 1) }
        seconds = min(seconds, max(limit, 0))
        switch jitter {
        case .none: return .seconds(seconds)
        case .full:
            // With 53 random bits each fraction is as likely; `Double.random` could loop on a poor generator.
            return .seconds(seconds * Double(generator.next() >> 11) * 0x1p-53)
        }
    }
}

extension RetryPolicy {
    /// The failures that may pass by themselves: Alamofire's list.
    ///
    /// Those without a name here come from other transports.
    public static let passingFailures: Set<SessionError.Code> = [
        .badServerResponse, .cannotConnectToHost, .cannotFindHost, .networkConnectionLost,
        .notConnectedToInternet,
        .secureConnectionFailed, .certificateHasBadDate, .certificateNotYetValid, .timedOut,
        SessionError.Code(rawValue: -996),  // a background session was disconnected
        SessionError.Code(rawValue: -997),  // a background session is in use by another process
        SessionError.Code(rawValue: -1006),  // DNS lookup failed
        SessionError.Code(rawValue: -1018),  // roaming is off
        SessionError.Code(rawValue: -1019),  // a call is active
        SessionError.Code(rawValue: -1020),  // data are not allowed
        SessionError.Code(rawValue: -2000),  // cannot load from the network
        SessionError.Code(rawValue: -3006),  // decoding a download failed midway
        SessionError.Code(rawValue: -3007),  // decoding a download failed at its end
    ]
}

/// Sends requests again whose connection broke while it was used, and no others.
///
/// Servers close idle connections at any time; a request that meets such a moment is not at fault.
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

/// Tries again where the connection broke within content whose rest can be asked for, and nowhere else.
///
/// The server has to send the content's version (a strong `ETag`, or a `Last-Modified` that counts as one,
/// RFC 9110 §8.8): downloads and streams continue where they were then, so that no byte comes twice.
public struct ContinuationRetryPolicy: RequestInterceptor {
    /// The numbers, which may be changed.
    public var policy: RetryPolicy

    /// A policy that continues so many times.
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
        guard mayContinue(request, state) else { return .doNotRetry }
        return await policy.retry(request, state: state, after: error)
    }

    private func mayContinue(_ request: SessionRequest, _ state: RequestState) -> Bool {
        // Between two tries no answer may come at all, or one that repeats less (RFC 9110 §15.3.7).
        guard let response = state.response else { return state.retryCount > 0 }
        return ResumeRules.canContinue(request, response: response)
            || state.retryCount > 0 && response.statusCode == 206
    }
}
