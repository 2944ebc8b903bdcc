// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

/// Which cipher is offered first.
struct CipherOrderTests {
    private static let aes128 = "TLS_AES_128_GCM_SHA256"
    private static let aes256 = "TLS_AES_256_GCM_SHA384"
    private static let chacha20 = "TLS_CHACHA20_POLY1305_SHA256"
    private static let earlier = [
        "ECDHE-ECDSA-AES256-GCM-SHA384", "DHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305",
        "ECDHE-RSA-CHACHA20-POLY1305", "DHE-RSA-CHACHA20-POLY1305", "AES128-SHA",
    ]

    @Test("API-578 with instructions for AES the shorter key is first, without them ChaCha20")
    func byProcessor() {
        let offered = [Self.aes256, Self.chacha20, Self.aes128]
        #expect(CipherOrder.tls13(offered, hasAES: true) == [Self.aes128, Self.aes256, Self.chacha20])
        #expect(CipherOrder.tls13(offered, hasAES: false) == [Self.chacha20, Self.aes128, Self.aes256])
    }

    @Test(
        "API-578 a list of TLS 1.3 that the system's configuration has set stays",
        arguments: [
            [], [aes256], [aes256, aes128], [aes128, aes256, chacha20], [chacha20, aes256, aes128],
            [aes256, chacha20, aes128, "TLS_AES_128_CCM_SHA256"],
        ])
    func configured(offered: [String]) {
        #expect(CipherOrder.tls13(offered, hasAES: true) == nil)
        #expect(CipherOrder.tls13(offered, hasAES: false) == nil)
    }

    @Test("API-578 before TLS 1.3 only ChaCha20 with elliptic curves moves, where AES is slow")
    func beforeTLS13() {
        #expect(CipherOrder.tls12(Self.earlier, hasAES: true) == nil)
        #expect(
            CipherOrder.tls12(Self.earlier, hasAES: false) == [
                "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
                "ECDHE-ECDSA-AES256-GCM-SHA384",
                "DHE-RSA-AES256-GCM-SHA384", "DHE-RSA-CHACHA20-POLY1305", "AES128-SHA",
            ])
        #expect(CipherOrder.tls12(["AES128-SHA", "DHE-RSA-CHACHA20-POLY1305"], hasAES: false) == nil)
        let ordered = CipherOrder.tls12(Self.earlier, hasAES: false) ?? []
        #expect(CipherOrder.tls12(ordered, hasAES: false) == nil, "already in order")
    }
}
