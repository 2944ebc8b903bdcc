// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite struct TLSTests {
    @Test(
        "A certificate is accepted or refused by a client that trusts the root alone",
        arguments: [
            .https: "200 1.1", .h2: "200 2", .tls12: "200 1.1", .rsa: "200 1.1", .renewed: "200 1.1",
            .directTLS: "200 1.1",
            .mtls: "400 1.1", .expired: "has expired", .future: "not yet valid",
            .wrongName: "no alternative certificate",
            .otherAuthority: "unable to get local issuer", .incomplete: "unable to get local issuer",
            .selfSigned: "self-signed", .selfSignedCN: "self-signed", .nameless: "self-signed",
            .strictMTLS: "certificate required",
        ] as [OriginListener: String])
    func verification(listener: OriginListener, expected: String) async throws {
        let curl = Curl(origin: try await .shared)
        let got = try await curl(
            "-o", "/dev/null", "-w", "%{http_code} %{http_version}", curl.origin.url("/get", at: listener))
        #expect(
            got.text == expected || got.code != 0 && got.errors.contains(expected),
            "\(got.text) \(got.errors)")
    }

    @Test(
        "Each leaf that is its own authority is accepted by clients that trust it",
        arguments: [OriginListener.selfSigned, .selfSignedCN])
    func selfSigned(listener: OriginListener) async throws {
        let curl = Curl(origin: try await .shared)
        let leaf = try #require(OriginCertificate(rawValue: listener.rawValue))
        let got = try await curl(
            "--cacert", curl.origin.pem(leaf), curl.origin.url("/status/200", at: listener))
        #expect(got.code == 0, "\(got.errors)")
    }

    @Test(
        "A client with a certificate is let in, by each form of its key",
        arguments: [OriginListener.mtls, .strictMTLS])
    func clients(listener: OriginListener) async throws {
        let curl = Curl(origin: try await .shared)
        let (origin, url) = (curl.origin, curl.origin.url("/connection", at: listener))
        let ways = [
            ["--cert", origin.pem(.client), "--key", origin.key(.client)],
            ["--cert", origin.pem(.client), "--key", origin.encryptedClientKey, "--pass", Origin.password],
            [
                "--cert-type", "DER", "--cert", origin.der(.client), "--key-type", "DER", "--key",
                origin.clientKeyDER,
            ],
            ["--cert-type", "P12", "--cert", "\(origin.clientPKCS12):\(Origin.password)"],
        ]
        for way in ways {
            let got = try await curl(arguments: way + ["-w", "%{http_code}", url])
            #expect(got.text.hasSuffix("200"), "\(way) \(got.errors)")
            if listener == .mtls { #expect(got.text.contains("\"client\": \"CN=device-1\"")) }
        }
        let stranger = try await curl(
            "--cert", origin.pem(.stranger), "--key", origin.key(.stranger), "-o", "/dev/null", "-w",
            "%{http_code}", url)
        #expect(stranger.text != "200")
    }

    @Test("The pin of each server's key fits and no other does")
    func pins() async throws {
        let curl = Curl(origin: try await .shared)
        let origin = curl.origin
        for (listener, leaf) in [
            (OriginListener.https, OriginCertificate.leaf), (.renewed, .leaf), (.rsa, .rsa),
        ] {
            #expect(
                try await curl("--pinnedpubkey", origin.pin(leaf), origin.url("/status/200", at: listener))
                    .code == 0)
        }
        #expect(try await curl("--pinnedpubkey", origin.pin(.rsa), origin.tlsURL("/status/200")).code == 90)
    }

    @Test(
        "Every certificate is there as PEM and DER, its key beside it", arguments: OriginCertificate.allCases)
    func files(certificate: OriginCertificate) async throws {
        let origin = try await Origin.shared
        let pem = try await origin.run([
            "openssl", "x509", "-in", origin.pem(certificate), "-noout", "-fingerprint",
        ])
        let der = try await origin.run([
            "openssl", "x509", "-inform", "DER", "-in", origin.der(certificate), "-noout", "-fingerprint",
        ])
        #expect(pem.status == .exited(0) && pem.text == der.text)
        let own = try await origin.run([
            "openssl", "x509", "-in", origin.pem(certificate), "-noout", "-pubkey",
        ])
        let key = try await origin.run(["openssl", "pkey", "-in", origin.key(certificate), "-pubout"])
        #expect(own.text == key.text && key.status == .exited(0))
    }

    @Test("On ::1 the same is served where there is one") func ipv6() async throws {
        let curl = Curl(origin: try await .shared)
        guard curl.origin.hasIPv6 else { return }
        #expect(try await curl(curl.origin.url("/status/200", at: .https, host: "[::1]")).code == 0)
        #expect(try await curl(curl.origin.url("/status/200", at: .direct, host: "[::1]")).code == 0)
    }

    @Test(
        "Ports where nothing works",
        // The reset may appear while connecting, sending or receiving.
        arguments: [.silent: [28], .reset: [7, 55, 56], .refused: [7], .blackhole: [28]]
            as [OriginListener: [Int32]])
    func dead(listener: OriginListener, codes: [Int32]) async throws {
        let curl = Curl(origin: try await .shared)
        let limit = codes == [28] ? "0.4" : "20"
        let got = try await curl("--max-time", limit, curl.origin.url("/get", at: listener))
        #expect(codes.contains(got.code))
        if listener == .silent {
            let url = "https://localhost:\(curl.origin.port(.silent))/get"
            #expect(try await curl("--max-time", "0.4", url).code == 28)
        }
    }
}
