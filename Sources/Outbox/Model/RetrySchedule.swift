// SPDX-License-Identifier: Apache-2.0

/// When a request that failed is sent again.
///
/// The pause after the nth failure lies between a part of it and the whole of `first · factor ^ (n − 1)`, so
/// that devices which lost the same server do not return all at once. A `Retry-After` of the server makes it
/// longer, never shorter.
public struct RetrySchedule: Sendable, Equatable {
    /// The first pause; 1 s.
    public var first: Duration = .seconds(1)
    /// What each further pause is longer by; 2.
    public var factor = 2.0
    /// The longest pause; 10 min.
    public var longest: Duration = .seconds(600)
    /// The part of a pause that is left to chance, 0 to 1; 0.5.
    public var jitter = 0.5
    /// The most that a server may ask for; 1 h.
    public var longestRetryAfter: Duration = .seconds(3_600)
    /// The shortest pause where people have to correct something first: trust, a secret, a library; 1 min.
    public var slow: Duration = .seconds(60)
    /// After so many failures a request becomes a dead letter; nil, the default, for never: a server may be
    /// away for long.
    public var maximumAttempts: Int?

    /// After so many refusals of a secret that was filled in, each looked up anew, a request becomes a dead
    /// letter; 8, which are two minutes with the other defaults.
    public var maximumRefusals = 8

    /// After so many 409 a request becomes a dead letter: the server still works on an earlier try, or says
    /// so; 16, which are over an hour with the other defaults.
    public var maximumConflicts = 16

    /// After so many refusals in a row from one origin (401, 403, 404 and others that a gateway gives)
    /// without a success between, they count as the server's trouble: nothing becomes a dead letter for them,
    /// and the origin is asked seldom; 5, and 0 for never.
    public var refusalsInARow = 5
    /// How long refusals in a row count as the server's trouble; 1 h.
    ///
    /// After that they make dead letters again, until a success.
    public var longestStop: Duration = .seconds(3_600)

    /// The defaults.
    public init() {}

    /// How long to wait, in milliseconds; nil for no more tries.
    ///
    /// - Parameters:
    ///   - failures: how often it has failed by now, at least 1; of refused secrets and of conflicts, how
    ///     often these were.
    ///   - isConflict: whether the server answers 409.
    ///   - retryAfter: what the server asks for.
    ///   - chance: a random number from 0 to 1.
    package func pause(
        afterFailures failures: Int, kind: OutboxFailure.Kind, isConflict: Bool = false,
        retryAfter: Duration? = nil,
        chance: Double
    ) -> Int64? {
        if let maximumAttempts, failures >= maximumAttempts { return nil }
        if kind == .credentials, failures >= maximumRefusals { return nil }
        if isConflict, failures >= maximumConflicts { return nil }
        let limit = Double(max(longest.milliseconds, 0))
        var pause = Double(max(first.milliseconds, 0))
        // Step by step: no power overflows on the way to the limit, and a thousand steps reach any.
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
        let wished = min(retryAfter ?? .zero, longestRetryAfter).milliseconds
        return max(Int64(pause), wished)
    }

    /// No pause is longer than this, in milliseconds: what the clock says to be further away, the clock has
    /// got wrong.
    package var horizon: Int64 { max(longest, longestRetryAfter, slow).milliseconds }
}

extension Duration {
    /// Whole milliseconds.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds.multipliedReportingOverflow(by: 1_000).overflow
            ? .max : seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}

/// The limit for a server's silence during a try.
///
/// Doubles after each try that was sent whole without an answer in time: a server slower than the limit would
/// else get the same request again and again.
enum AnswerPatience {
    /// The limit does not grow beyond this by itself.
    static let longest: Duration = .seconds(3_600)
    /// Nothing was sent yet, so a longer wait gains nothing.
    static let longestConnecting: Duration = .seconds(60)

    /// The limit for connecting, given that for silence.
    static func connecting(_ limit: Duration) -> Duration {
        limit > .zero ? min(limit, longestConnecting) : longestConnecting
    }

    /// The limit; zero for none.
    ///
    /// - Parameters:
    ///   - base: the limit of the first try; zero for none.
    ///   - unanswered: how many tries were sent whole and got no answer in time.
    static func limit(_ base: Duration, unanswered: Int) -> Duration {
        guard base > .zero else { return .zero }
        var limit = base
        for _ in 0..<min(max(unanswered, 0), 64) where limit < longest { limit = min(limit * 2, longest) }
        // A greater limit of the request stays.
        return max(limit, base)
    }
}
