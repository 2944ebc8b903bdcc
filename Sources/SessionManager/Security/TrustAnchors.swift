// SPDX-License-Identifier: Apache-2.0

import COpenSSL
import FoundationEssentials

/// Certificates of which any may end a chain.
///
/// Unchecked because the compiler cannot see into OpenSSL: certificates are added before the object is handed
/// out, and look-ups in an `X509_STORE` take its lock.
final class TrustAnchors: @unchecked Sendable {
    let raw: OpaquePointer

    /// Nil without memory; what is no certificate is left out.
    init?(_ certificates: some Sequence<Data>) {
        guard let raw = copenssl_anchors_new() else { return nil }
        self.raw = raw
        for certificate in certificates {
            certificate.withUnsafeBytes { bytes in
                guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
                _ = copenssl_anchors_add(raw, start, bytes.count)
            }
        }
    }

    deinit { copenssl_anchors_free(raw) }
}
