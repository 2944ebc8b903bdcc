// SPDX-License-Identifier: Apache-2.0

/// When a failed request is sent again.
///
/// The pause after the nth failure lies between a part of it and the whole of `first · factor ^ (n − 1)`, so
/// that devices which lost the same server do not return all at once. `Retry-After` only makes it longer.
public struct RetrySchedule: Sendable, Equatable {
    /// The first pause; 1 s.
    public var first: Duration = .seconds(1)
    /// The growth of each further pause; 2.
    public var factor = 2.0
    /// The longest pause; 10 min.
    public var longest: Duration = .seconds(600)
    /// The random part of a pause, 0 to 1; 0.5.
    public var jitter = 0.5
    /// The longest `Retry-After` that is followed; 1 h.
    public var longestRetryAfter: Duration = .seconds(3_600)
    /// The shortest pause if people have to correct something first: trust, a secret, a library; 1 min.
    public var slow: Duration = .seconds(60)
    /// The number of failures that makes a request a dead letter; nil, the default, for never.
    public var maximumAttempts: Int?

    /// The number of refusals of a secret, looked up anew each time, that makes a request a dead letter; 8,
    /// reached after one to two minutes with the other defaults.
    public var maximumRefusals = 8

    /// The number of 409 responses, by which the server reports an earlier attempt in progress, that makes a
    /// request a dead letter; 16, reached after half an hour to an hour with the other defaults.
    public var maximumConflicts = 16

    /// The number of refusals in a row from one origin (401, 403, 404 and others that a gateway gives),
    /// without a success between, that counts as the server's fault: they make no dead letters, and the
    /// origin is tried rarely; 5, and 0 for never.
    public var refusalsInARow = 5
    /// How long refusals in a row count as the server's fault; 1 h.
    ///
    /// After that they make dead letters again, until a success or as long without a refusal.
    public var longestStop: Duration = .seconds(3_600)

    /// The defaults.
    public init() {}

    /// The pause before the next attempt, in milliseconds; nil for no more attempts.
    ///
    /// - Parameters:
    ///   - failures: the failures so far, at least 1; for refused secrets and conflicts, the number of these.
    ///   - isConflict: whether the server answers 409.
    ///   - retryAfter: the server's `Retry-After`.
    ///   - chance: a random number from 0 to 1.
    package func pause(
        afterFailures failures: Int, kind: OutboxFailure.Kind, isConflict: Bool = false,
        retryAfter: Duration? = nil, chance: Double
    ) -> Int64? {
        if let maximumAttempts, failures >= maximumAttempts { return nil }
        if kind == .credentials, failures >= maximumRefusals { return nil }
        if isConflict, failures >= maximumConflicts { return nil }
        let limit = Double(max(longest.milliseconds, 0))
        var pause = Double(max(first.milliseconds, 0))
        // Step by step: no power overflows on the way to the limit, and a thousand steps reach any limit.
        var steps = min(max(failures, 1), 1_000) - 1
        while steps > 0, pause < limit {
            pause *= max(factor, 1)
            steps -= 1
        }
        pause = min(pause, limit)
        let part = min(max(jitter, 0), 1)
        pause -= pause * part * min(max(chance, 0), 1)
        switch kind {
        case .security, .secret, .local: pause = max(pause, Double(slow.milliseconds))
        default: break
        }
        let requested = min(retryAfter ?? .zero, longestRetryAfter).milliseconds
        return max(Int64(pause), requested)
    }

    /// The longest possible pause, in milliseconds; a stored time further away comes from a wrong clock.
    package var horizon: Int64 { max(longest, longestRetryAfter, slow).milliseconds }
}

/// The limit for a server's silence, doubled after each try that was sent whole and not answered in time: a
/// slower server would get the same request again and again.
enum AnswerPatience {
    /// The limit does not grow beyond this by itself.
    static let longest: Duration = .seconds(3_600)
    /// Nothing was sent yet, so a longer wait gains nothing.
    static let longestConnecting: Duration = .seconds(60)

    /// The limit for connecting, given that for silence.
    static func connecting(_ limit: Duration) -> Duration {
        limit > .zero ? min(limit, longestConnecting) : longestConnecting
    }

    /// The limit after `unanswered` tries that got no answer in time; zero for none, as for `base`.
    static func limit(_ base: Duration, unanswered: Int) -> Duration {
        guard base > .zero else { return .zero }
        var limit = base
        for _ in 0..<min(max(unanswered, 0), 64) where limit < longest { limit = min(limit * 2, longest) }
        // A greater limit of the request stays.
        return max(limit, base)
    }
}
