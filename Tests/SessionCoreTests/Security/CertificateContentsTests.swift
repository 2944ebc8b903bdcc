// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Testing

struct CertificateContentsTests {
    private let der = CertificateFixture.der

    @Test("key, validity and names are read from a certificate")
    func fields() throws {
        let certificate = try #require(CertificateContents(der))
        #expect(certificate.der == der)
        #expect(certificate.publicKeyInfo.base64EncodedString() == CertificateFixture.publicKey)
        #expect(certificate.subject == "pinned.example")
        #expect(certificate.issuer == "pinned.example")
        #expect(
            certificate.names == ["pinned.example", "*.pinned.example", "192.0.2.7", "2001:db8:0:0:0:0:0:7"])
        // 2026-11-21T05:41:58Z as UTCTime, 2109-01-10T05:41:58Z as GeneralizedTime.
        #expect(certificate.notBefore.timeIntervalSince1970 == 1_795_239_718)
        #expect(certificate.notAfter.timeIntervalSince1970 == 4_387_239_718)
        #expect(certificate.notBefore.day == "2026-11-21")
        #expect(certificate.notAfter.day == "2109-01-10")
    }

    @Test("no beginning of a certificate is one, nor is one with bytes behind it")
    func truncated() {
        for count in 0..<der.count { #expect(CertificateContents(der.prefix(count)) == nil) }
        #expect(CertificateContents(der + [0]) == nil)
    }

    @Test("a slice of a buffer is read like a copy")
    func slice() {
        let buffer = Data([1, 2, 3]) + der
        #expect(CertificateContents(buffer[3...])?.subject == "pinned.example")
    }

    @Test("a certificate with any byte changed in any way is read or refused, and what is read lies inside")
    func damaged() {
        var bytes = [UInt8](der)
        for index in bytes.indices {
            let original = bytes[index]
            for value in UInt8.min...UInt8.max {
                bytes[index] = value
                guard let read = CertificateContents(Data(bytes)) else { continue }
                #expect(read.publicKeyInfo.count < bytes.count && read.names.count <= 100)
            }
            bytes[index] = original
        }
    }

    @Test(
        "lengths that are indefinite, too long for their value or beyond the end are refused",
        arguments: [
            [0x30, 0x80, 0x00, 0x00], [0x30, 0x81, 0x02, 0x30, 0x00], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
            [0x30, 0x83, 0xFF, 0xFF, 0xFF], [0x30, 0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [0x30], [], [0x3F, 0x81, 0x01, 0x00], [0x30, 0x00],
        ] as [[UInt8]])
    func lengths(_ bytes: [UInt8]) {
        #expect(CertificateContents(Data(bytes)) == nil)
    }

    @Test("noise between elements that look right is read or refused")
    func noise() {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        let tags: [UInt8] = [
            0x30, 0x31, 0x02, 0x03, 0x04, 0x06, 0xA0, 0xA3, 0x17, 0x18, 0x82, 0x87, 0x01, 0x80,
        ]
        for _ in 0..<5_000 {
            var bytes: [UInt8] = []
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            for step in 0..<Int(state >> 58) {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes.append(step % 2 == 0 ? tags[Int(state >> 33) % tags.count] : UInt8(state >> 56) >> 2)
            }
            _ = CertificateContents(
                Data([0x30, UInt8(bytes.count), 0x30, UInt8(max(0, bytes.count - 2))] + bytes))
        }
    }

    @Test(
        "days are counted by the calendar",
        arguments: [
            (0.0, "1970-01-01"), (-1, "1969-12-31"), (951_782_399, "2000-02-28"), (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"), (4_107_542_399, "2100-02-28"), (4_107_542_400, "2100-03-01"),
            (253_402_300_799, "9999-12-31"),
        ])
    func days(_ seconds: Double, _ day: String) {
        #expect(Date(timeIntervalSince1970: seconds).day == day)
    }

    @Test("certificates are found between other text and blocks, with any line ending")
    func pemText() {
        let text =
            "subject=CN\n" + CertificateFixture.pem
            + "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
        #expect(PEM.certificates(text) == [der])
        let windows = CertificateFixture.pem.split(separator: "\n").joined(separator: "\r\n")
        #expect(PEM.certificates(windows) == [der])
        #expect(PEM.certificates(PEM.text([der, der])) == [der, der])
        #expect(PEM.text([der]) == CertificateFixture.pem)
        #expect(PEM.certificates("") == [])
    }

    @Test(
        "a block that is not closed, nested, empty or no base64 is an error",
        arguments: [
            "-----BEGIN CERTIFICATE-----\nAAAA\n",
            "-----BEGIN CERTIFICATE-----\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
            "-----BEGIN CERTIFICATE-----\n####\n-----END CERTIFICATE-----\n",
            "-----END CERTIFICATE-----\n",
        ])
    func brokenPEM(_ text: String) {
        #expect(PEM.certificates(text) == nil)
    }
}
