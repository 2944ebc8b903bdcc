// SPDX-License-Identifier: Apache-2.0

import Outbox
import SessionManager

extension SessionError {
    /// The advice, with this program's options in place of the library's settings.
    var spokenAdvice: String {
        switch remedy ?? (underlying as? TrustRefusal)?.remedy {
        case nil, .freeSpace: advice
        case .longerSilence, .longerFirstByte:
            "see whether the server is overloaded, or give it longer (--max-time)"
        case .longerTask: "try again, or give it longer (--max-time)"
        case .moreContent, .moreContentOrFile: "fetch it to a file (-o FILE)"
        case .clientIdentity: "show one (--cert FILE, and --key FILE where that lacks the key)"
        case .passphrase: "give it (--pass-file FILE), or a key without one"
        case .identityParts:
            "check its form, its passphrase (--pass-file FILE), and that the key belongs to the certificate"
        case .trustRoot: "trust that authority (--cacert FILE)"
        case .trustRootOrChain:
            "trust that authority (--cacert FILE), or let the server send its intermediate certificates"
        case .trustCertificate: "trust it (--cacert FILE)"
        case .rootsFile: "check the file of --cacert, or install ca-certificates"
        case .newerTLS: "the server is too old: it speaks no version of TLS that is safe"
        case .plainContent: "ask for it as it is (-H 'Accept-Encoding: identity')"
        }
    }
}

extension TrustRefusal {
    /// The setting that would let the server pass; nil if there is none, or none to be changed lightly.
    fileprivate var remedy: SessionRemedy? {
        guard step == .chain else { return nil }
        return switch VerifyResult(verifyResult).kind {
        case .selfSigned: .trustCertificate
        case .untrustedRoot: .trustRoot
        case .issuerMissing: .trustRootOrChain
        case .valid, .expired, .notYetValid, .wrongName, .other: nil
        }
    }
}

extension OutboxError {
    /// In one line, with this program's options in place of the library's settings.
    var spoken: String {
        guard code == .full, !advice.isEmpty else { return description }
        return
            "\(message); raise outbox.entries or outbox.bytes of the service, choose what gives way (outbox.when-full), or remove some (reach queue remove)"
    }
}
