// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

/// Why a server is not trusted: at which step, in a sentence, and what to do.
public struct TrustRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    /// The check that failed.
    public enum Step: String, Sendable {
        /// Names are validated on chains that may be invalid, and nothing is pinned.
        case nameWithoutPins
        /// The chain is not valid against the trust roots.
        case chain
        /// The server's certificate is for another host.
        case name
        /// The mode wants pins and there are none.
        case noPins
        /// The chain does not lead to a pinned certificate.
        case certificatePins
        /// No certificate of the chain has a pinned key.
        case keyPins
        /// A handler decides.
        case undecided
    }

    /// The check that failed.
    public let step: Step
    /// The error code, from ``SessionError/Code/certificateHasBadDate`` to
    /// ``SessionError/Code/certificateNotYetValid``.
    public let code: SessionError.Code
    /// What is wrong, in a sentence without a full stop.
    public let message: String
    /// What to try.
    public let advice: String
    /// What the server showed.
    public let peer: PeerTrust
    /// The number of X509_STORE_CTX_get_error(3) where the chain itself is wrong, else 0.
    public let verifyResult: Int

    package init(
        _ step: Step, _ message: String, advice: String, peer: PeerTrust,
        code: SessionError.Code = .certificateUntrusted, verifyResult: Int = 0
    ) {
        self.step = step
        self.code = code
        self.message = message
        self.advice = advice
        self.peer = peer
        self.verifyResult = verifyResult
    }

    /// Sentence and advice.
    public var description: String { advice.isEmpty ? message : "\(message); \(advice)" }
}

/// What a policy says of a server.
package enum TrustJudgement: Sendable, Equatable {
    case accepted
    case refused(TrustRefusal)

    package var refusal: TrustRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
}

extension SessionError {
    /// The error of a server that is not trusted; ``Code/certificateUntrusted`` unless it knows more.
    package static func serverTrust(
        _ refusal: TrustRefusal?, url: URL?, transport: TransportFailure? = nil
    ) -> SessionError {
        let host = url?.host().map { TextQuote($0).description } ?? "the server"
        return SessionError(
            refusal?.code ?? .certificateUntrusted,
            refusal?.message
                ?? "the certificate of \(host) is not valid; another server may pretend to be it",
            advice: refusal?.advice ?? "", domain: .security, failingURL: url, underlying: refusal,
            transport: transport)
    }

    /// What the server showed, where it was not trusted; nil for other errors.
    public var peerTrust: PeerTrust? { (underlying as? TrustRefusal)?.peer }
}
