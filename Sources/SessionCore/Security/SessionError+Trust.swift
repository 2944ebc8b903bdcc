// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

extension SessionError {
    /// The error of a server that is not trusted.
    ///
    /// Every part may be missing; the code is ``Code/certificateUntrusted`` unless the refusal knows better.
    package static func serverTrust(
        _ refusal: TrustRefusal?, url: URL?, transport: TransportFailure? = nil
    ) -> SessionError {
        let host = url?.host().map { TextQuote($0).description } ?? "the server"
        return SessionError(
            refusal?.code ?? .certificateUntrusted,
            refusal?.message ?? "the certificate of \(host) is not valid; somebody may pretend to be it",
            advice: refusal?.advice ?? "", domain: .security, failingURL: url, underlying: refusal,
            transport: transport)
    }

    /// What the server showed, where it was not trusted; nil for other errors.
    public var peerTrust: PeerTrust? { (underlying as? TrustRefusal)?.peer }
}
