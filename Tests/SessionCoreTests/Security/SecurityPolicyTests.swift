// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Testing

struct SecurityPolicyTests {
    private static let pin = "sha256//n23ekPA0KSECEw+5aayxPiLR/XPfjTYRgCZSwfDWMGE="

    @Test("AF-186 the default pins nothing, allows nothing invalid, checks names and wants TLS 1.2")
    func defaults() {
        let policy = SecurityPolicy.default
        #expect(policy.pinningMode == .none && policy.pinningMode.rawValue == 0)
        #expect(!policy.allowInvalidCertificates)
        #expect(policy.validatesDomainName)
        #expect(policy.pinnedCertificates.isEmpty && policy.pinnedKeys.isEmpty)
        #expect(policy.minimumTLSVersion == .tls1_2)
        #expect(policy.trustRoots == .system && policy.clientIdentity == nil)
        #expect(SecurityPolicy.PinningMode.allCases.map(\.rawValue) == [0, 1, 2])
    }

    @Test("AF-201 a copy and an archive of a policy are equal to it")
    func archive() throws {
        var policy = SecurityPolicy(pinningMode: .certificate, pinnedCertificates: [CertificateFixture.der])
        policy.allowInvalidCertificates = true
        policy.validatesDomainName = false
        policy.pinnedKeys = [try PublicKeyPin(Self.pin)]
        policy.minimumTLSVersion = .tls1_3
        policy.trustRoots = .systemAnd(.certificates([CertificateFixture.der]))
        policy.clientIdentity = .pem(certificate: .file("/a"), key: .data(Data([1])), passphrase: "secret")
        let copy = policy
        #expect(copy == policy)
        let asJSON = try JSONDecoder().decode(SecurityPolicy.self, from: JSONEncoder().encode(policy))
        #expect(asJSON == policy)
        let asList = try PropertyListDecoder().decode(
            SecurityPolicy.self, from: PropertyListEncoder().encode(policy))
        #expect(asList == policy)
        policy.validatesDomainName = true
        #expect(copy != policy)
    }

    @Test(
        "AF-177 pins need a base URL with https; no pins go everywhere",
        arguments: ["https://host/", "HTTPS://host/", "http://host/", nil])
    func baseURL(_ text: String?) throws {
        let base = try text.map { try SessionRequest($0).url }
        try SecurityPolicy().validate(forBaseURL: base)
        for mode in [SecurityPolicy.PinningMode.certificate, .publicKey] {
            let policy = SecurityPolicy(pinningMode: mode)
            if text?.lowercased().hasPrefix("https") ?? false {
                try policy.validate(forBaseURL: base)
                continue
            }
            #expect { try policy.validate(forBaseURL: base) } throws: {
                let error = $0 as? SessionError
                return error?.code == .invalidSecurityPolicy
                    && error?.message.contains("Invalid Security Policy: pinning mode \(mode)") ?? false
            }
        }
    }

    @Test("AF-200 an error of trust has what is known: peer, URL, both or nothing")
    func serverTrustError() throws {
        let url = try SessionRequest("https://host.example/x").url
        let peer = PeerTrust(host: "host.example", certificates: [PeerCertificate(der: Data([1]), pin: nil)])
        let refusal = TrustRefusal(.name, "wrong name", advice: "use another", peer: peer)
        for (given, address) in [(refusal, url), (nil, url), (refusal, nil), (nil, nil)]
            as [(TrustRefusal?, URL?)]
        {
            let error = SessionError.serverTrust(given, url: address)
            #expect(error.code == .certificateUntrusted && error.domain == .security)
            #expect(error.peerTrust == given?.peer)
            #expect(error.failingURL == address)
            #expect(!error.message.isEmpty)
            if given == nil, address != nil { #expect(error.message.contains("host.example")) }
        }
        let dated = TrustRefusal(.chain, "expired", advice: "", peer: peer, code: .certificateHasBadDate)
        #expect(SessionError.serverTrust(dated, url: nil).code == .certificateHasBadDate)
    }

    @Test("pins are read with and without their prefix and written in curl's spelling")
    func pins() throws {
        let pin = try PublicKeyPin(Self.pin)
        #expect(try PublicKeyPin(String(Self.pin.dropFirst(8))) == pin)
        #expect(pin.description == Self.pin && pin.sha256.count == 32)
        let other = try #require(PublicKeyPin(sha256: [UInt8](repeating: 0, count: 32)))
        #expect(try PublicKeyPin.list("\(pin); \(other)") == [pin, other])
        let policy = try SecurityPolicy(pins: pin.description, other.description)
        #expect(policy.pinnedKeys == [pin, other] && policy.pinningMode == .publicKey)
        #expect(PublicKeyPin(sha256: [1, 2, 3]) == nil)
    }

    @Test(
        "a text that is no pin is refused",
        arguments: [
            "", "sha256//", "sha256//AAAA", "sha1//n23e",
            "sha256//n23ekPA0KSECEw+5aayxPiLR/XPfjTYRgCZSwfDWMG#=",
        ])
    func badPins(_ text: String) {
        #expect { try PublicKeyPin(text) } throws: {
            ($0 as? SessionError)?.code == .invalidSecurityPolicy
        }
    }

    @Test("secrets of an identity are in no description")
    func secrets() {
        let identity = ClientIdentity.pkcs12(.data(Data("private".utf8)), passphrase: "open sesame")
        var dumped = ""
        dump(identity, to: &dumped)
        var policy = SecurityPolicy()
        policy.clientIdentity = identity
        for text in [
            "\(identity)", String(reflecting: identity), dumped, "\(policy)", String(reflecting: policy),
        ] {
            #expect(!text.contains("sesame") && !text.contains("private"))
        }
    }

    @Test("days until pinned certificates expire are told, soonest first")
    func expiries() throws {
        let policy = SecurityPolicy(
            pinningMode: .certificate, pinnedCertificates: [CertificateFixture.der, Data([1, 2])])
        let expiry = try #require(policy.pinnedExpiries.first)
        #expect(policy.pinnedExpiries.count == 1 && expiry.subject == "pinned.example")
        #expect(expiry.daysLeft(at: expiry.notAfter.addingTimeInterval(-86_400 * 3 - 1)) == 3)
        #expect(expiry.daysLeft(at: expiry.notAfter.addingTimeInterval(1)) == -1)
    }
}
