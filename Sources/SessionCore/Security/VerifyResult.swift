// SPDX-License-Identifier: Apache-2.0

/// The result of a verification, by the numbers of OpenSSL (X509_STORE_CTX_get_error(3)), which libcurl hands on for every TLS library that has them.
package struct VerifyResult: Sendable, Equatable {
    package let number: Int
    /// The library's words.
    package let text: String

    package init(_ number: Int, text: String = "") {
        self.number = number
        self.text = text
    }

    package static let ok = VerifyResult(0)
    package static let issuerMissing = VerifyResult(20, text: "unable to get local issuer certificate")
    package static let applicationRefused = VerifyResult(50, text: "application verification failure")

    package var isValid: Bool { number == 0 }

    package enum Kind {
        case valid, expired, notYetValid, selfSigned, untrustedRoot, issuerMissing, wrongName, other
    }

    package var kind: Kind {
        switch number {
        case 0: .valid
        case 9: .notYetValid
        case 10: .expired
        case 18: .selfSigned
        case 19, 27: .untrustedRoot
        // Certificate without an issuer: locally, at all, or a chain of only itself (33: CRL issuer is none of it).
        case 2, 20, 21: .issuerMissing
        case 62, 63, 64: .wrongName
        default: .other
        }
    }

    /// The error code for it.
    package var code: SessionError.Code { SessionError.Code(curlCode: 60, verifyResult: number) }
}
