// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials

extension SessionError {
    /// The error for a result of libcurl that has to do with TLS; nil for any other result.
    ///
    /// - Parameters:
    ///   - verifyResult: CURLINFO_SSL_VERIFYRESULT.
    ///   - refusal: why a security policy refused the server, where one did.
    ///   - showsIdentity: whether this client has a certificate to show.
    ///   - roots: which of the policy's own trust roots are not valid now.
    ///   - lacksPassphrase: whether its key is encrypted and has no passphrase.
    package static func tls(
        _ failure: TransportFailure, verifyResult: Int, refusal: TrustRefusal?, url: URL?,
        showsIdentity: Bool, lacksPassphrase: Bool = false, roots: @autoclosure () -> OutdatedRoots? = nil
    ) -> SessionError? {
        let host = url?.host() ?? "the server"
        let code = Code(curlCode: failure.curlCode)
        switch failure.curlCode {
        // CURLE_PEER_FAILED_VERIFICATION, and its older number.
        case 60, 51:
            if let refusal { return serverTrust(refusal, url: url, transport: failure) }
            return unverified(failure, VerifyResult(verifyResult), host, url, roots())
        // CURLE_SSL_PINNEDPUBKEYNOTMATCH
        case 90:
            return SessionError(
                .certificateUntrusted, "the key that \(host) presented is not among the pins",
                advice:
                    "if the certificate was renewed with another key, add its pin; if not, the connection may be intercepted",
                domain: .security, failingURL: url, transport: failure)
        // CURLE_SSL_CONNECT_ERROR; CURLE_SEND_ERROR, CURLE_RECV_ERROR: TLS 1.3 servers judge clients late.
        case 35, 55, 56:
            if let refusal { return serverTrust(refusal, url: url, transport: failure) }
            if let error = clientRefused(failure, host, url, showsIdentity) { return error }
            guard failure.curlCode == 35 else { return nil }
            let sentence = "no secure connection to \(host): \(failure.message)"
            if isTooOld(failure.message) {
                return SessionError(
                    .secureConnectionFailed, sentence, remedy: .newerTLS, domain: .security,
                    failingURL: url, transport: failure)
            }
            return SessionError(
                .secureConnectionFailed, sentence, advice: advice(failure.message), domain: .security,
                failingURL: url, transport: failure)
        // CURLE_SSL_CERTPROBLEM
        case 58 where lacksPassphrase:
            return SessionError(
                code, "the client's key is protected by a passphrase, and none was given: \(failure.message)",
                remedy: .passphrase, domain: .security, failingURL: url, transport: failure)
        case 58:
            return SessionError(
                code, "the client's certificate or key cannot be used: \(failure.message)",
                remedy: .identityParts, domain: .security, failingURL: url, transport: failure)
        case 77:
            return SessionError(
                code, "no secure connection to \(host): \(failure.message)", remedy: .rootsFile,
                domain: .security, failingURL: url, transport: failure)
        // No usable engine, cipher, or file of authorities, CRLs or issuers; no answer on revocation.
        case 53, 54, 59, 66, 82, 83, 91:
            return SessionError(
                code, "no secure connection to \(host): \(failure.message)", domain: .security,
                failingURL: url, transport: failure)
        case 98: return clientRefused(failure, host, url, false)
        default: return nil
        }
    }

    private static func unverified(
        _ failure: TransportFailure, _ result: VerifyResult, _ host: String, _ url: URL?,
        _ roots: OutdatedRoots?
    ) -> SessionError {
        func error(_ reason: String, advice: String) -> SessionError {
            SessionError(
                result.code, "the certificate of \(host) \(reason): \(failure.message)", advice: advice,
                domain: .security, failingURL: url, transport: failure)
        }
        func error(_ reason: String, remedy: SessionRemedy) -> SessionError {
            SessionError(
                result.code, "the certificate of \(host) \(reason): \(failure.message)", remedy: remedy,
                domain: .security, failingURL: url, transport: failure)
        }
        switch result.kind {
        case .expired, .notYetValid:
            if let (sentence, advice) = roots?.reason(result.kind, host: host) {
                return SessionError(
                    result.code, sentence, advice: advice, domain: .security, failingURL: url,
                    transport: failure)
            }
            return result.kind == .expired
                ? error("has expired", advice: "renew it; if it is new, check this device's clock")
                : error("is not valid yet", advice: "check this device's clock")
        case .selfSigned: return error("is self-signed and not trusted", remedy: .trustCertificate)
        case .untrustedRoot:
            return error("leads to an authority that is not trusted", remedy: .trustRoot)
        case .issuerMissing:
            return error(
                "is signed by an authority that is neither trusted nor sent along", remedy: .trustRootOrChain)
        case .valid, .wrongName, .other: return error("is not accepted", advice: "")
        }
    }

    /// What servers say of clients (RFC 8446 §6.2), in OpenSSL's and GnuTLS's words.
    private static func clientRefused(
        _ failure: TransportFailure, _ host: String, _ url: URL?, _ showsIdentity: Bool
    ) -> SessionError? {
        let text = failure.message.lowercased()
        if failure.curlCode == 98 || text.contains("certificate required")
            || text.contains("certificate is required")
        {
            return SessionError(
                .clientCertificateRequired, "\(host) wants a client certificate",
                remedy: .clientIdentity, domain: .security, failingURL: url, transport: failure)
        }
        let isAlert = [
            "bad certificate", "unknown ca", "certificate unknown", "certificate expired",
            "certificate revoked",
        ]
        .contains { text.contains("alert \($0)") }
        guard isAlert, showsIdentity else { return nil }
        return SessionError(
            .clientCertificateRejected, "\(host) refuses this client's certificate: \(failure.message)",
            advice: "check who has signed it and when it ends", domain: .security, failingURL: url,
            transport: failure)
    }

    private static func isTooOld(_ message: String) -> Bool {
        let text = message.lowercased()
        return text.contains("protocol version") || text.contains("unsupported protocol")
    }

    private static func advice(_ message: String) -> String {
        message.lowercased().contains("wrong version number") ? "there may be plain http at that port" : ""
    }
}
