// SPDX-License-Identifier: Apache-2.0

/// Decides whether libcurl may send a request again by itself: only one that may be carried out twice, or was
/// not at all.
///
/// When a kept connection ends without an answer, libcurl takes it for one that had ended before and sends
/// the request again on another, whatever its method; the server may have carried it out all the same
/// (RFC 9110 §9.2.2). It does so too where the server has refused the stream, and has thus not touched it
/// (REFUSED_STREAM, RFC 9113 §8.7), and says nowhere which of the two it was. On a connection that no other
/// transfer has used, it was the refusal.
package struct ResendGuard: Sendable {
    /// libcurl has begun to send the request.
    package private(set) var hasSent = false
    /// It did so over a connection that was made for it.
    private var hasOwnConnection = false

    package init() {}

    /// libcurl is about to send the request; the error that prevents it, or nil.
    ///
    /// - Parameters:
    ///   - connections: how many libcurl has made for the exchange.
    ///   - isAlone: whether no other transfer has used its connection.
    package mutating func send(
        connections: @autoclosure () -> Int, isAlone: @autoclosure () -> Bool,
        _ exchange: @autoclosure () -> Interruption
    ) -> SessionError? {
        guard hasSent else {
            hasSent = true
            hasOwnConnection = connections() > 0
            return nil
        }
        guard mayHaveArrived(exchange()), !(hasOwnConnection && isAlone()) else { return nil }
        return .outcomeUnknown("the server has ended it without an answer")
    }

    /// The error that takes the place of one which suggests to send a request again that has left, and that
    /// the server may have carried out.
    package func error(
        insteadOf error: SessionError, _ exchange: @autoclosure () -> Interruption
    ) -> SessionError? {
        guard hasSent else { return nil }
        let progress = exchange()
        if error.code.isUnconnected {
            guard mayHaveArrived(progress) else { return nil }
            return .outcomeUnknown(
                "the server has ended it without an answer, and cannot be reached any more")
        }
        guard error.code == .networkConnectionLost || error.code == .badServerResponse && !progress.hasHead
        else { return nil }
        switch InterruptionRules.verdict(progress) {
        case .outcomeUnknown: return error.withUnknownOutcome
        case .cutOff: return error.with(advice: SessionError.askingFirst)
        case .restart, .continueByRange: return nil
        }
    }

    /// Whether the server may have carried out a request that must not be carried out twice.
    private func mayHaveArrived(_ exchange: Interruption) -> Bool {
        InterruptionRules.verdict(exchange) == .outcomeUnknown
    }
}
