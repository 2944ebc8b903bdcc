// SPDX-License-Identifier: Apache-2.0

import CCurl
import COpenSSL
import FoundationEssentials
import SessionCore
import SessionManager
import TestSupport
import Testing

/// What is set around a handshake: versions, roots, identities, resumption, delegates.
struct TLSSettingsTests {
    private func probe() async throws -> TLSProbe { try TLSProbe(await .shared) }

    private func settings(
        _ policy: SecurityPolicy, asks: Bool = false, tlsProxy: String? = nil
    ) throws -> TLSSettings {
        try TLSSettings(policy, CurlLibrary.load(), asks: asks, tlsProxy: tlsProxy)
    }

    /// A policy that trusts the root and pins the leaf's key.
    private func pinned(_ origin: TestSupport.Origin) throws -> SecurityPolicy {
        var policy = SecurityPolicy(pinnedKeys: [try PublicKeyPin(origin.pin(.leaf))])
        policy.trustRoots = .only(.file(origin.pem(.root)))
        return policy
    }

    @Test("UPL-490 OpenSSL is found once libcurl is loaded, although it was looked for before")
    func loadedLater() async {
        await #expect(processExitsWith: .success) {
            #expect(throws: SessionError.self) { try OpenSSL.load() }
            _ = try CurlLibrary.load()
            try OpenSSL.load()
        }
    }

    @Test("API-578 the ciphers are offered in the processor's order, with or without a judge")
    func ciphers() async throws {
        let probe = try await probe()
        let first = copenssl_has_aes() ? "TLS_AES_128_GCM_SHA256" : "TLS_CHACHA20_POLY1305_SHA256"
        for policy in [trusting(probe.origin), try pinned(probe.origin)] {
            let seen = try ServerView(probe.get(.https, path: "/connection", settings(policy)))
            #expect(seen.offered.first == first && seen.cipher == first)
            #expect(seen.offered.contains { !$0.hasPrefix("TLS_") }, "those of TLS 1.2 too")
        }
        probe.close()
    }

    @Test("API-578 without instructions for AES both versions of TLS begin with ChaCha20, and lose none")
    func slowAES() async throws {
        let probe = try await probe()
        let settings = try settings(trusting(probe.origin))
        let fast = try ServerView(probe.get(.https, path: "/connection", settings))
        let slow = try ServerView(
            probe.get(.https, path: "/connection", settings) { easy in
                ccurl_set_tls_function(easy) { _, context, _ in
                    if let context { TLSContext.orderCiphers(of: context, hasAES: false) }
                    return CURLE_OK
                }
            })
        #expect(slow.offered.first == "TLS_CHACHA20_POLY1305_SHA256" && slow.cipher == slow.offered.first)
        #expect(slow.offered.first { !$0.hasPrefix("TLS_") } == "ECDHE-ECDSA-CHACHA20-POLY1305")
        #expect(slow.offered.sorted() == fast.offered.sorted())
        probe.close()
    }

    /// A policy that trusts the root.
    private func trusting(_ origin: TestSupport.Origin) -> SecurityPolicy {
        var policy = SecurityPolicy()
        policy.trustRoots = .only(.file(origin.pem(.root)))
        return policy
    }

    /// What the server knows of a connection.
    private struct ServerView: Decodable {
        let cipher: String
        let offered: [String]

        init(_ result: TLSProbe.Result) throws {
            self = try JSONDecoder().decode(Self.self, from: Data(result.body.utf8))
        }
    }

    @Test("every connection under a policy with pins is judged: no TLS session is resumed")
    func resumption() async throws {
        let probe = try await probe()
        let share = try #require(ccurl_share_init())
        ccurl_share_set(share, CURL_LOCK_DATA_SSL_SESSION)
        defer { ccurl_share_cleanup(share) }
        probe.share = share
        let judged = try settings(pinned(probe.origin))
        for _ in 1...3 {
            let result = try probe.get(.https, judged)
            #expect(result.isAccepted && result.evaluator?.handshakeCount == 1 && !result.isReused)
        }
        // The same share resumes where libcurl verifies by itself, so the test would notice.
        let settings = try settings(trusting(probe.origin))
        var resumed: [Bool] = []
        for _ in 1...3 { resumed.append(try probe.get(.https, path: "/connection", settings).isResumed) }
        #expect(resumed.first == false && resumed.last == true)
        // Sessions of the plain policy are not reused either.
        let after = try probe.get(.https, judged)
        #expect(after.isAccepted && after.evaluator?.handshakeCount == 1)
        probe.close()
    }

    @Test("a connection that is used again is not judged again, and outlives the evaluator of its handshake")
    func reuse() async throws {
        let probe = try await probe()
        let settings = try settings(pinned(probe.origin))
        weak var first: TrustEvaluator?
        do {
            let result = try probe.get(.https, settings, freshConnection: false)
            first = result.evaluator
            #expect(result.isAccepted)
        }
        #expect(first != nil, "OpenSSL keeps it for a later handshake of the same connection")
        let second = try probe.get(.https, settings, freshConnection: false)
        #expect(second.isAccepted && second.isReused && second.evaluator?.handshakeCount == 0)
        probe.close()
        #expect(first == nil, "and lets it go with the connection")
    }

    @Test("trust roots: a file, a directory or bytes alone, or beside the system's")
    func roots() async throws {
        let probe = try await probe()
        let root = try CertificateFiles.certificates(inFile: probe.origin.pem(.root))
        let folder =
            FileManager.default.temporaryDirectory.path() + "/reach-roots-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try PEM.text(root).write(toFile: "\(folder)/root.pem", atomically: false, encoding: .utf8)
        let sources: [TrustRoots.Source] = [
            .file(probe.origin.pem(.root)), .file(probe.origin.der(.root)), .directory(folder),
            .certificates(root),
        ]
        for source in sources {
            for roots in [TrustRoots.only(source), .systemAnd(source)] {
                var policy = SecurityPolicy()
                policy.trustRoots = roots
                let settings = try settings(policy)
                let result = try probe.get(.https, settings)
                #expect(result.isAccepted, "\(roots): \(result.error.map { "\($0)" } ?? "")")
                #expect(try probe.get(.otherAuthority, settings).error?.code == .certificateHasUnknownRoot)
                #expect(try probe.get(.expired, settings).error?.code == .certificateHasBadDate)
                #expect(try probe.get(.wrongName, settings).error?.code == .certificateUntrusted)
            }
        }
        var policy = SecurityPolicy()
        policy.trustRoots = .only(.certificates([]))
        #expect { try settings(policy) } throws: { ($0 as? SessionError)?.code == .invalidSecurityPolicy }
        policy.trustRoots = .only(.file("/nonexistent/root.pem"))
        #expect { try settings(policy) } throws: { ($0 as? SessionError)?.code == .noPermissionsToReadFile }
    }

    @Test("a server that speaks only TLS 1.2 is refused where 1.3 is the minimum")
    func minimumVersion() async throws {
        let probe = try await probe()
        var policy = try pinned(probe.origin)
        #expect(try probe.get(.tls12, settings(policy)).isAccepted)
        policy.minimumTLSVersion = .tls1_3
        #expect(try probe.get(.https, settings(policy)).isAccepted)
        let refused = try probe.get(.tls12, settings(policy))
        #expect(refused.error?.code == .secureConnectionFailed)
        #expect(
            refused.error?.advice.contains("minimum TLS version") ?? false,
            "\(refused.error.map { "\($0)" } ?? "")")
    }

    @Test("a client shows who it is, by each form of its certificate and key")
    func identities() async throws {
        let probe = try await probe()
        let origin = probe.origin
        let bytes: (String) throws -> ClientIdentity.Source = {
            .data(try Data(contentsOf: URL(filePath: $0)))
        }
        let identities: [ClientIdentity] = [
            .pem(certificate: .file(origin.pem(.client)), key: .file(origin.key(.client))),
            .pem(
                certificate: .file(origin.pem(.client)), key: .file(origin.encryptedClientKey),
                passphrase: TestSupport.Origin.password),
            .pem(certificate: try bytes(origin.pem(.client)), key: try bytes(origin.key(.client))),
            .pkcs12(.file(origin.clientPKCS12), passphrase: TestSupport.Origin.password),
            .pkcs12(try bytes(origin.clientPKCS12), passphrase: TestSupport.Origin.password),
        ]
        var policy = try pinned(origin)
        for identity in identities {
            policy.clientIdentity = identity
            let result = try probe.get(.strictMTLS, settings(policy))
            #expect(result.isAccepted, "\(identity): \(result.error.map { "\($0)" } ?? "")")
        }
        policy.clientIdentity = nil
        #expect(try probe.get(.strictMTLS, settings(policy)).error?.code == .clientCertificateRequired)
        policy.clientIdentity = .pem(
            certificate: .file(origin.pem(.stranger)), key: .file(origin.key(.stranger)))
        #expect(try probe.get(.strictMTLS, settings(policy)).error?.code == .clientCertificateRejected)
        policy.clientIdentity = .pem(certificate: .file(origin.pem(.client)), key: .file(origin.key(.leaf)))
        #expect(
            try probe.get(.strictMTLS, settings(policy)).error?.message.contains(
                "client's certificate or key") ?? false)
        policy.clientIdentity = .pkcs12(.file("/nonexistent/client.p12"))
        #expect { try settings(policy) } throws: { "\($0)".contains("/nonexistent/client.p12") }
    }

    @Test("FLD-027 an encrypted key without its passphrase, or with another one, fails at once and says so")
    func passphrases() async throws {
        let probe = try await probe()
        let origin = probe.origin
        let certificate = ClientIdentity.Source.file(origin.pem(.client))
        let key = ClientIdentity.Source.file(origin.encryptedClientKey)
        var policy = try pinned(origin)
        policy.clientIdentity = .pem(certificate: certificate, key: key)
        let none = try probe.get(.strictMTLS, settings(policy))
        #expect(none.error?.message.contains("protected by a passphrase, and none was given") == true)
        #expect(none.error?.advice.contains("give the passphrase") == true)
        for passphrase in ["", "wrong"] {
            policy.clientIdentity = .pem(certificate: certificate, key: key, passphrase: passphrase)
            let wrong = try probe.get(.strictMTLS, settings(policy))
            #expect(wrong.error?.message.contains("client's certificate or key cannot be used") == true)
            #expect(wrong.error?.advice.contains("passphrase") == true)
        }
        policy.clientIdentity = .pkcs12(.file(origin.clientPKCS12))
        let archive = try probe.get(.strictMTLS, settings(policy))
        #expect(archive.error?.advice.contains("passphrase") == true, "\(archive)")
    }

    @Test("where delegates are asked a server is refused as undecided, until its certificate is accepted")
    func delegates() async throws {
        let probe = try await probe()
        let settings = try settings(SecurityPolicy(), asks: true)
        let asked = try probe.get(.selfSigned, host: "wrong.test", settings, judge: .approvals([]))
        let refusal = try #require(asked.evaluator?.refusal)
        #expect(refusal.step == .undecided && asked.error?.code == .certificateUntrusted)
        let leaf = try #require(refusal.peer.certificates.first)
        #expect(leaf.subject == "origin.test" && leaf.pin?.description == probe.origin.pin(.selfSigned))
        #expect(
            try probe.get(.selfSigned, host: "wrong.test", settings, judge: .approvals([leaf.der])).isAccepted
        )
        #expect(!(try probe.get(.https, settings, judge: .approvals([leaf.der])).isAccepted))
        // The policy can still be asked; here it does not know the root.
        #expect(try probe.get(.https, settings, judge: .policy).error?.code == .certificateHasUnknownRoot)
        #expect(
            try probe.get(.selfSigned, settings, judge: .policy).error?.code == .certificateHasUnknownRoot)
        var policy = try pinned(probe.origin)
        policy.pinnedKeys = [try PublicKeyPin(probe.origin.pin(.rsa))]
        let both = try self.settings(policy, asks: true)
        #expect(try probe.get(.https, both, judge: .policy).evaluator?.refusal?.step == .keyPins)
        #expect(try probe.get(.https, both, judge: .roots).isAccepted)
        #expect(try probe.get(.wrongName, both, judge: .roots).evaluator?.refusal?.step == .name)
    }

    @Test("a handle whose transfer was not begun makes no connection where servers are judged")
    func forgotten() async throws {
        let probe = try await probe()
        let result = try probe.get(.https, settings(pinned(probe.origin)), begins: false)
        #expect(result.code == CURLE_SSL_CONNECT_ERROR)
    }

    @Test("what a server showed says how many days are left")
    func expiries() async throws {
        let probe = try await probe()
        let result = try probe.get(.https, settings(pinned(probe.origin)))
        let expiries = try #require(result.evaluator?.peer?.expiries)
        #expect(expiries.map(\.subject) == ["origin.test", "Reach Test Intermediate"])
        #expect(expiries.allSatisfy { (3640...3650).contains($0.daysLeft(at: .now)) })
    }

    @Test("plain http where TLS was expected is an error that says so")
    func plain() async throws {
        let probe = try await probe()
        let result = try probe.get(.http, scheme: "https", settings(pinned(probe.origin)))
        #expect(result.error?.code == .secureConnectionFailed)
        #expect(result.error?.advice == "there may be plain http at that port")
    }
}
