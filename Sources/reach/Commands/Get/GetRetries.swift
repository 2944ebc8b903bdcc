// SPDX-License-Identifier: Apache-2.0

import SessionManager

/// The failures after which `reach get` tries again; without `--retry` only cuts that can be continued.
struct GetRetries: RequestInterceptor {
    /// The number of continuations without `--retry`.
    static let standard = 5

    private let policy: any RequestInterceptor
    private let meter: GetMeter

    init(_ count: Int?, _ meter: GetMeter) {
        self.meter = meter
        let cuts = ContinuationRetryPolicy(retryLimit: count ?? Self.standard)
        guard let count else {
            policy = cuts
            return
        }
        var others = RetryPolicy()
        others.retryLimit = count
        others.maximumDelay = .seconds(600)
        others.statusCodes = [408, 429, 500, 502, 503, 504]
        others.errorCodes = [.networkConnectionLost, .timedOut, .cannotConnectToHost]
        policy = Interceptor(interceptors: [cuts, others])
    }

    func retry(_ request: SessionRequest, state: RequestState, after error: any Error) async -> RetryDecision
    {
        let decision = await policy.retry(request, state: state, after: error)
        let delay: Duration
        switch decision {
        case .retry: delay = .zero
        case .retryAfter(let pause): delay = pause
        case .doNotRetry, .doNotRetryWithError: return decision
        }
        meter.recordRetry(Self.sentence(error, state.response?.statusCode, delay))
        return decision
    }

    /// `the connection broke: …; another try in 1.2 s`.
    static func sentence(_ error: any Error, _ status: Int?, _ delay: Duration) -> String {
        "\(cause(error, status)); another try in \(AmountText.seconds(delay))"
    }

    /// What has failed, in a few words.
    static func cause(_ error: any Error, _ status: Int?) -> String {
        let failure = error as? SessionError
        if failure?.code == .badServerResponse, let status {
            return "\(status) \(reasonPhrase(forStatus: status))"
        }
        return failure?.message ?? "\(error)"
    }
}
