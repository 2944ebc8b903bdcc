// SPDX-License-Identifier: Apache-2.0

/// The limit for a server's silence during a try.
///
/// Doubles after each try that was sent whole without an answer in time: a server slower than the limit would else get the same request
/// again and again.
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
