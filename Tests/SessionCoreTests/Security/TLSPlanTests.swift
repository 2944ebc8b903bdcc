// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Testing

struct TLSPlanTests {
    private static let gnuTLS = TLSBackend.other("GnuTLS/3.7.9")
    private let pin = PublicKeyPin(sha256: [UInt8](repeating: 1, count: 32))

    private func policy(
        _ mode: SecurityPolicy.PinningMode, allowInvalid: Bool = false, names: Bool = true
    ) -> SecurityPolicy {
        var policy = SecurityPolicy(pinningMode: mode)
        policy.allowInvalidCertificates = allowInvalid
        policy.validatesDomainName = names
        return policy
    }

    @Test(
        "the TLS library in use is read from libcurl's version text",
        arguments: [
            ("OpenSSL/3.0.19", TLSBackend.openSSL), ("OpenSSL/4.0.0", .openSSL),
            ("OpenSSL/1.1.1w", .other("OpenSSL/1.1.1w")), ("GnuTLS/3.7.9", .other("GnuTLS/3.7.9")),
            ("(GnuTLS/3.7.9) OpenSSL/3.0.2", .openSSL),
            ("GnuTLS/3.7.9 (OpenSSL/3.0.2)", .other("GnuTLS/3.7.9")),
            ("mbedTLS/3.5.0", .other("mbedTLS/3.5.0")), ("", .other("")), ("OpenSSL", .other("OpenSSL")),
            ("LibreSSL/3.8.2", .other("LibreSSL/3.8.2")),
        ])
    func backends(_ text: String, _ backend: TLSBackend) {
        #expect(TLSBackend(text) == backend)
    }

    @Test(
        "where nothing is special, libcurl verifies by itself on every TLS library",
        arguments: [TLSBackend.openSSL, gnuTLS])
    func plain(_ backend: TLSBackend) throws {
        let plan = try TLSPlan(.default, backend)
        #expect(
            plan.verifiesPeer && plan.verifiesHost && !plan.isEvaluated && plan.resumesSessions
                && plan.pins == nil)
        let unnamed = try TLSPlan(policy(.none, names: false), backend)
        #expect(unnamed.verifiesPeer && !unnamed.verifiesHost && !unnamed.isEvaluated)
        let open = try TLSPlan(policy(.none, allowInvalid: true, names: false), backend)
        #expect(!open.verifiesPeer && !open.verifiesHost && !open.isEvaluated)
        var rooted = SecurityPolicy.default
        rooted.trustRoots = .only(.file("/root.pem"))
        #expect(try TLSPlan(rooted, backend).onlyRoots == .file("/root.pem"))
    }

    @Test("with OpenSSL whatever is special is judged, libcurl heeds it, and no session is resumed")
    func openSSL() throws {
        var policies = [policy(.none, allowInvalid: true)]
        for mode in [SecurityPolicy.PinningMode.publicKey, .certificate] {
            for allowInvalid in [true, false] {
                policies += [
                    policy(mode, allowInvalid: allowInvalid),
                    policy(mode, allowInvalid: allowInvalid, names: false),
                ]
            }
        }
        var extra = SecurityPolicy.default
        extra.trustRoots = .systemAnd(.file("/root.pem"))
        for policy in policies + [extra] {
            let plan = try TLSPlan(policy, .openSSL)
            #expect(plan.isEvaluated && plan.verifiesPeer && !plan.resumesSessions && plan.pins == nil)
            #expect(plan.verifiesHost == policy.validatesDomainName)
        }
        let asked = try TLSPlan(policy(.none, allowInvalid: true, names: false), .openSSL, asks: true)
        #expect(asked.isEvaluated && asked.verifiesPeer && !asked.verifiesHost)
    }

    @Test("other TLS libraries compare pins of keys themselves")
    func otherPins() throws {
        var pinned = policy(.publicKey)
        pinned.pinnedKeys = [
            try #require(pin), try #require(PublicKeyPin(sha256: [UInt8](repeating: 2, count: 32))),
        ]
        let plan = try TLSPlan(pinned, Self.gnuTLS)
        #expect(plan.pins == pinned.pinnedKeys.map(\.description).sorted().joined(separator: ";"))
        #expect(plan.verifiesPeer && plan.verifiesHost && !plan.isEvaluated)
        pinned.allowInvalidCertificates = true
        let open = try TLSPlan(pinned, Self.gnuTLS)
        #expect(open.pins != nil && !open.verifiesPeer && open.verifiesHost)
    }

    @Test("what another TLS library cannot do is an error, never left out")
    func refused() throws {
        var byCertificate = policy(.publicKey)
        byCertificate.pinnedCertificates = [Data([1])]
        var extra = SecurityPolicy.default
        extra.trustRoots = .systemAnd(.file("/root.pem"))
        for policy in [policy(.certificate), byCertificate, extra] {
            #expect { try TLSPlan(policy, Self.gnuTLS) } throws: {
                let error = $0 as? SessionError
                return error?.code == .missingLibrary && error?.message.contains("GnuTLS/3.7.9") ?? false
            }
        }
        #expect { try TLSPlan(.default, Self.gnuTLS, asks: true) } throws: {
            ($0 as? SessionError)?.code == .missingLibrary
        }
        for policy in [policy(.publicKey), policy(.none, allowInvalid: true)] {
            #expect { try TLSPlan(policy, Self.gnuTLS) } throws: {
                ($0 as? SessionError)?.code == .invalidSecurityPolicy
            }
        }
    }

    @Test("hosts are named as certificates name them")
    func hosts() {
        for (host, text, isAddress) in [
            ("Host.Example.", "host.example", false), ("192.0.2.1", "192.0.2.1", true),
            ("[2001:db8::1]", "2001:db8::1", true),
            ("fe80::1%eth0", "fe80::1", true), ("1.2.3", "1.2.3", false), ("1.2.3.256", "1.2.3.256", false),
            ("+1.2.3.4", "+1.2.3.4", false), (".", ".", false), ("", "", false),
        ] {
            #expect(TrustHost(host).text == text && TrustHost(host).isAddress == isAddress, "\(host)")
        }
    }

    @Test("a proxy is known by the host of its URL, and a text that is no URL names no proxy")
    func proxies() {
        #expect(TrustHost(proxy: "https://Proxy.example:3128/") == TrustHost("proxy.example"))
        #expect(TrustHost(proxy: "https://user:word@192.0.2.1:3128") == TrustHost("192.0.2.1"))
        #expect(TrustHost(proxy: "https://[2001:db8::1]:3128") == TrustHost("[2001:db8::1]"))
        for text in ["", "proxy.example:3128", "https://", "https:///path"] {
            #expect(TrustHost(proxy: text) == nil, "\(text)")
        }
    }

    @Test(
        "a handshake is with the server that the name was sent to; with a proxy only where it can be no other"
    )
    func handshakes() {
        let server = TrustHost("server.example"), proxy = TrustHost("proxy.example")
        let byAddress = TrustHost("192.0.2.1")
        let of = TrustHost.ofHandshake
        #expect(of("server.example", server, nil) == .server(server))
        #expect(of(nil, byAddress, nil) == .server(byAddress))
        #expect(of("other.example", server, nil) == .server(TrustHost("other.example")))
        #expect(of("server.example", server, proxy) == .server(server))
        #expect(of("PROXY.example", server, proxy) == .proxy)
        #expect(of("other.example", server, proxy) == .server(TrustHost("other.example")))
        #expect(of(nil, server, byAddress) == .proxy)
        #expect(of(nil, byAddress, proxy) == .server(byAddress))
        #expect(
            of(nil, byAddress, TrustHost("192.0.2.2")) == .server(byAddress),
            "could be either: judged by the policy")
        #expect(of("server.example", server, server) == .server(server))
        // libcurl takes them for addresses, to which no name is sent (inet_aton(3)).
        for text in ["2130706433", "0x7f000001", "127.1", "0177.0.0.0x1", "127.0.0.1."] {
            let host = TrustHost(text)
            #expect(of(nil, host, byAddress) == .server(host), "\(text)")
        }
    }

    @Test(
        "libcurl's results have the codes that say what to do",
        arguments: [
            (60, 10, "", SessionError.Code.certificateHasBadDate), (60, 9, "", .certificateNotYetValid),
            (60, 18, "", .certificateHasUnknownRoot), (60, 19, "", .certificateHasUnknownRoot),
            (51, 20, "", .certificateHasUnknownRoot), (60, 0, "no alternative", .certificateUntrusted),
            (60, 62, "", .certificateUntrusted), (60, 1, "", .certificateUntrusted),
            (90, 0, "", .certificateUntrusted),
            (35, 0, "reset", .secureConnectionFailed), (77, 0, "", .secureConnectionFailed),
            (58, 0, "", .clientCertificateRejected), (98, 0, "", .clientCertificateRequired),
            (
                56, 0, "OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required",
                .clientCertificateRequired
            ),
            (35, 0, "error:0A000418:SSL routines::tlsv1 alert unknown ca", .clientCertificateRejected),
        ])
    func results(_ code: Int32, _ verifyResult: Int, _ message: String, _ expected: SessionError.Code) throws
    {
        let url = try SessionRequest("https://host.example/").url
        let failure = TransportFailure(curlCode: code, message: message)
        let error = try #require(
            SessionError.tls(failure, verifyResult: verifyResult, refusal: nil, url: url, showsIdentity: true)
        )
        #expect(error.code == expected && error.transport == failure && error.failingURL == url)
        #expect(error.domain == .security && error.peerTrust == nil && !error.message.isEmpty)
    }

    @Test(
        "results that have nothing to do with TLS are left to others",
        arguments: [0, 7, 28, 52, 55, 56] as [Int32])
    func others(_ code: Int32) {
        let failure = TransportFailure(curlCode: code, message: "Recv failure: Connection reset by peer")
        #expect(
            SessionError.tls(failure, verifyResult: 10, refusal: nil, url: nil, showsIdentity: true) == nil)
    }
}
