// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

/// Facts of a handshake as a test states them: a chain of leaf, intermediate and root for `host.example`.
struct StatedFacts: TrustFacts {
    static let leaf = certificate(1, "host.example", issuer: "Intermediate", names: ["host.example"])
    static let intermediate = certificate(2, "Intermediate", issuer: "Root")
    static let root = certificate(3, "Root", issuer: "Root")
    static let chain = [leaf, intermediate, root]

    var host: String? = "host.example"
    var presented = [leaf, intermediate]
    var pinnedKeys: Set<PublicKeyPin> = []
    var now = Date(timeIntervalSince1970: 1_800_000_000)
    var verdict = ChainVerdict(result: .ok, chain: chain)
    var pinned = ChainVerdict(result: .issuerMissing, chain: [leaf])
    var certificateNames = ["host.example"]
    /// What signatures lead to.
    var linked = chain

    func chainVerdict() -> ChainVerdict { verdict }
    func matchesHost() -> Bool { host.map(certificateNames.contains) ?? false }
    func pinnedVerdict() -> ChainVerdict { pinned }
    func isLinked(to certificate: PeerCertificate) -> Bool { linked.contains(certificate) }

    /// The same with the keys of certificates pinned, and what a verification anchored to them finds.
    func pinning(_ certificates: [PeerCertificate]) -> StatedFacts {
        var facts = self
        facts.pinnedKeys = Set(certificates.compactMap(\.pin))
        if let anchor = linked.firstIndex(where: certificates.contains) {
            facts.pinned = ChainVerdict(result: .ok, chain: Array(linked[...anchor]))
        }
        return facts
    }

    static func certificate(
        _ number: UInt8, _ subject: String, issuer: String, names: [String] = [], notAfter: Date? = nil
    ) -> PeerCertificate {
        PeerCertificate(
            der: Data([number]), pin: PublicKeyPin(sha256: [UInt8](repeating: number, count: 32)),
            subject: subject,
            issuer: issuer, names: names, notBefore: Date(timeIntervalSince1970: 1_700_000_000),
            notAfter: notAfter)
    }
}

/// A self-signed certificate of openssl-req(1): `/O=Reach tests/CN=pinned.example`, valid for 30,000 days,
/// with names and addresses.
enum CertificateFixture {
    static let pem = """
        -----BEGIN CERTIFICATE-----
        MIIB/TCCAaKgAwIBAgIUVfSkPVHITHWiGiHge/bfTEL3g/8wCgYIKoZIzj0EAwIw
        LzEUMBIGA1UECgwLUmVhY2ggdGVzdHMxFzAVBgNVBAMMDnBpbm5lZC5leGFtcGxl
        MCAXDTI2MTEyMTA1NDE1OFoYDzIxMDkwMTEwMDU0MTU4WjAvMRQwEgYDVQQKDAtS
        ZWFjaCB0ZXN0czEXMBUGA1UEAwwOcGlubmVkLmV4YW1wbGUwWTATBgcqhkjOPQIB
        BggqhkjOPQMBBwNCAASVCyJAg0YpiP1CQYrm9G10KeoUoOh9wEoaX6C6UxifgCQH
        V6hysDVMcsimfYixYgEUoonH9QWpR0g95IUjlKIlo4GZMIGWMB0GA1UdDgQWBBTM
        zNLfXVEFL0IOI+IVNT2GJvgFUTAfBgNVHSMEGDAWgBTMzNLfXVEFL0IOI+IVNT2G
        JvgFUTAPBgNVHRMBAf8EBTADAQH/MEMGA1UdEQQ8MDqCDnBpbm5lZC5leGFtcGxl
        ghAqLnBpbm5lZC5leGFtcGxlhwTAAAIHhxAgAQ24AAAAAAAAAAAAAAAHMAoGCCqG
        SM49BAMCA0kAMEYCIQCvc7srWNsqs1+UCRr5bbCat+rR/wcOxZLWvxOWX4j/hgIh
        AKVyXqAtkO0jHdcLEBNtDtgiIxxtMCDsu6xHbypy2T/x
        -----END CERTIFICATE-----

        """
    /// What openssl-x509(1) prints with `-pubkey`.
    static let publicKey =
        "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAElQsiQINGKYj9QkGK5vRtdCnqFKDofcBKGl+gulMYn4AkB1eocrA1THLIpn2IsWIBFKKJx/UFqUdIPeSFI5SiJQ=="

    static var der: Data { PEM.certificates(pem)?.first ?? Data() }
}
