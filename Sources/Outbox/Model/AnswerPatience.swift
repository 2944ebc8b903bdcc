// SPDX-License-Identifier: Apache-2.0

/// How long a server may be silent during a try.
///
/// A server that needs longer than the limit for its answer would else get the same request again and again, and never be heard: after a try
/// that was sent whole the next one waits twice as long.
package enum AnswerPatience {
    /// The limit does not grow beyond this by itself.
    package static let longest: Duration = .seconds(3_600)
    /// The longest wait for a connection: nothing was sent yet, so nothing is gained by more.
    package static let longestConnecting: Duration = .seconds(60)

    /// The limit of the wait for a connection, where a server may be silent for so long.
    package static func connecting(_ limit: Duration) -> Duration {
        limit > .zero ? min(limit, longestConnecting) : longestConnecting
    }

    /// The limit; zero for none.
    ///
    /// - Parameters:
    ///   - base: the limit of the first try; zero for none.
    ///   - unanswered: how many tries were sent whole and got no answer in time.
    package static func limit(_ base: Duration, unanswered: Int) -> Duration {
        guard base > .zero else { return .zero }
        var limit = base
        for _ in 0..<min(max(unanswered, 0), 64) where limit < longest { limit = min(limit * 2, longest) }
        // One that was set to more stays so.
        return max(limit, base)
    }
}
