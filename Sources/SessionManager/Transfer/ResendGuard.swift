// SPDX-License-Identifier: Apache-2.0

import CCurl
import SessionCore

/// Whether libcurl may send a request again: only one that may be carried out twice, or was not at all.
///
/// When a kept connection ends without an answer, libcurl takes it for one that had ended before and sends
/// the request again on another, whatever its method; the server may have carried it out all the same
/// (RFC 9110 §9.2.2). It does so too where the server has refused the stream, and has thus not touched it
/// (REFUSED_STREAM, RFC 9113 §8.7), and says nowhere which of the two it was. Only on a connection that no
/// other transfer has used it can be nothing but the refusal.
struct ResendGuard {
    /// libcurl has begun to send the request.
    private(set) var hasSent = false
    /// It did so over a connection that was made for it.
    private var hasOwnConnection = false

    /// libcurl is about to send the request; the error that prevents it, or nil.
    mutating func send(_ transfer: Transfer) -> SessionError? {
        defer { hasSent = true }
        if !hasSent { hasOwnConnection = (transfer.easy?.long(CURLINFO_NUM_CONNECTS) ?? 0) > 0 }
        guard mayHaveArrived(transfer) else { return nil }
        if hasOwnConnection, let ordinal = transfer.ordinal, ordinal == transfer.pool?.total { return nil }
        return .outcomeUnknown("the server has ended it without an answer")
    }

    /// Replaces an error that says that nothing was sent, where the request had left on a connection before.
    func judged(_ error: SessionError, _ transfer: Transfer) -> SessionError {
        switch error.code {
        case .cannotConnectToHost, .cannotFindHost, .notConnectedToInternet: break
        default: return error
        }
        guard mayHaveArrived(transfer) else { return error }
        return .outcomeUnknown("the server has ended it without an answer, and cannot be reached any more")
            .with(failingURL: transfer.request.url)
    }

    /// Whether the server may have carried out a request that must not be carried out twice.
    private func mayHaveArrived(_ transfer: Transfer) -> Bool {
        hasSent && transfer.response == nil && transfer.body.isSent
            && transfer.delegate?.transferMayRepeat(transfer) == false
    }
}
