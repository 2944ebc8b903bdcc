// SPDX-License-Identifier: Apache-2.0

import CTestSupport
import FoundationEssentials
import SessionCore
import SessionManager
import TestSupport
import Testing

/// Chains that no honest server sends, verified by OpenSSL without a handshake.
final class ForgedChainTests {
    private let folder =
        FileManager.default.temporaryDirectory.path() + "/reach-chains-\(UInt64.random(in: 0 ... .max))"

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Issues a certificate with a key of its own, by another one or by itself.
    private func issue(
        _ name: String, by issuer: String?, _ extensions: String, key: String? = nil,
        digest: String = "sha256"
    ) async throws -> Data {
        let origin = try await TestSupport.Origin.shared
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let keyFile = "\(folder)/\(key ?? name).key"
        if key == nil {
            let made = try await origin.run([
                "openssl", "genpkey", "-quiet", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
                "-out", keyFile,
            ])
            try #require(made.status == .exited(0), "\(made.errors)")
        }
        var command = [
            "openssl", "req", "-x509", "-new", "-key", keyFile, "-subj", "/CN=\(name)", "-days", "30",
            "-outform", "DER", "-\(digest)",
            "-out", "\(folder)/\(name).der", "-config", "/dev/stdin", "-extensions", "ext",
        ]
        if let issuer { command += ["-CA", "\(folder)/\(issuer).der", "-CAkey", "\(folder)/\(issuer).key"] }
        let configuration =
            "[req]\ndistinguished_name=dn\n[dn]\n[ext]\nsubjectKeyIdentifier=hash\n\(extensions)\n"
        let made = try await origin.run(command, input: Array(configuration.utf8))
        try #require(made.status == .exited(0), "\(made.errors)")
        return try Data(contentsOf: URL(filePath: "\(folder)/\(name).der"))
    }

    private let authority = "basicConstraints=critical,CA:true\nkeyUsage=critical,keyCertSign"
    private let server =
        "basicConstraints=CA:false\nsubjectAltName=DNS:host.test\nextendedKeyUsage=serverAuth"

    /// What a policy says of a chain; anchors are the trust roots, the level is the handshake's.
    private func judge(
        _ policy: SecurityPolicy, _ presented: [Data], anchors: [Data] = [], level: Int32 = 0
    ) throws -> (accepted: Bool, TrustRefusal?) {
        let settings = try TLSSettings(policy, CurlLibrary.load(), asks: true)
        let verification = try #require(ctest_verification_new())
        defer { ctest_verification_free(verification) }
        for (certificates, isAnchor) in [(presented, false), (anchors, true)] {
            for certificate in certificates {
                let isTaken = certificate.withUnsafeBytes {
                    ctest_verification_add(
                        verification, isAnchor, $0.bindMemory(to: UInt8.self).baseAddress, $0.count)
                }
                if !isTaken { return (false, nil) }
            }
        }
        let evaluator = settings.evaluator(host: "host.test", judge: .policy)
        let started = try #require(ctest_verification_start(verification))
        ctest_verification_set_level(verification, level)
        let accepted = evaluator.accepts(OpaquePointer(started))
        #expect((ctest_verification_error(verification) == 0) == accepted)
        #expect((evaluator.refusal == nil) == accepted)
        return (accepted, evaluator.refusal)
    }

    private func policy(
        pinning der: Data, _ mode: SecurityPolicy.PinningMode = .publicKey, allowInvalid: Bool = true
    ) -> SecurityPolicy {
        var policy = SecurityPolicy(pinningMode: mode, pinnedCertificates: [der])
        policy.allowInvalidCertificates = allowInvalid
        return policy
    }

    @Test("a pinned certificate behind another server's is no match, whether its issuer is trusted or not")
    func sentAlong() async throws {
        let root = try await issue("root", by: nil, authority)
        let pinned = try await issue("pinned", by: "root", server)
        let forged = try await issue("forged", by: nil, server)
        let rogue = try await issue("rogue", by: nil, authority)
        let signed = try await issue("signed", by: "rogue", server)
        #expect(try judge(policy(pinning: pinned), [pinned, root]).accepted)
        for mode in [SecurityPolicy.PinningMode.publicKey, .certificate] {
            let alone = try judge(policy(pinning: pinned, mode), [forged, pinned, root])
            #expect(!alone.accepted)
            if mode == .publicKey { #expect(alone.1?.message.contains("no signatures lead to it") ?? false) }
            // An authority that the device trusts but that is not the pinned one.
            let trusted = try judge(
                policy(pinning: pinned, mode, allowInvalid: false), [signed, rogue, pinned, root],
                anchors: [rogue, root])
            #expect(!trusted.accepted)
        }
    }

    @Test("a server's own certificate signs no others, though its authority is pinned")
    func leafAsAuthority() async throws {
        let root = try await issue("root", by: nil, authority)
        let other = try await issue(
            "other", by: "root", "basicConstraints=CA:false\nsubjectAltName=DNS:other.test")
        let forged = try await issue("forged", by: "other", server)
        for mode in [SecurityPolicy.PinningMode.publicKey, .certificate] {
            #expect(!(try judge(policy(pinning: root, mode), [forged, other, root])).accepted)
            #expect(
                !(try judge(
                    policy(pinning: root, mode, allowInvalid: false), [forged, other, root], anchors: [root]
                ).accepted))
        }
    }

    @Test("an issuer of the right name with another key is no issuer")
    func sameName() async throws {
        let root = try await issue("root", by: nil, authority)
        let leaf = try await issue("leaf", by: "root", server)
        try FileManager.default.removeItem(atPath: "\(folder)/root.key")
        let impostor = try await issue("root", by: nil, authority)
        #expect(impostor != root)
        #expect(try judge(policy(pinning: root), [leaf, root]).accepted)
        #expect(!(try judge(policy(pinning: impostor), [leaf, impostor]).accepted))
        #expect(!(try judge(policy(pinning: impostor, .certificate), [leaf, impostor]).accepted))
        #expect(!(try judge(policy(pinning: impostor, .certificate), [leaf]).accepted))
    }

    @Test("FLD-060 a signature that is weaker than the handshake allows leads to no pinned certificate")
    func weakSignature() async throws {
        let root = try await issue("root", by: nil, authority)
        let strong = try await issue("strong", by: "root", server)
        let weak = try await issue("weak", by: "root", server, digest: "sha1")
        for mode in [SecurityPolicy.PinningMode.publicKey, .certificate] {
            let policy = policy(pinning: root, mode)
            #expect(try judge(policy, [strong, root], level: 1).accepted)
            #expect(try judge(policy, [weak, root], level: 0).accepted)
            #expect(!(try judge(policy, [weak, root], level: 1)).accepted)
        }
    }

    @Test("a certificate that is for something else than servers is refused, pinned authority or not")
    func purpose() async throws {
        let root = try await issue("root", by: nil, authority)
        let client = try await issue(
            "client", by: "root", "subjectAltName=DNS:host.test\nextendedKeyUsage=clientAuth")
        #expect(!(try judge(policy(pinning: root, .certificate), [client, root]).accepted))
        #expect(
            !(try judge(policy(pinning: root, allowInvalid: false), [client, root], anchors: [root]).accepted)
        )
    }

    @Test(
        "certificates with changed bytes are refused or judged, never a crash, and never accepted for another's pin"
    )
    func damaged() async throws {
        let root = try await issue("root", by: nil, authority)
        let leaf = try await issue("leaf", by: "root", server)
        var policy = policy(pinning: root)
        policy.pinnedCertificates.insert(leaf)
        let certificatePolicy = self.policy(pinning: root, .certificate)
        for index in leaf.indices {
            var bytes = leaf
            bytes[index] ^= 1 << UInt8(index % 8)
            // A changed leaf keeps its pinned key unless the change is in there; the handshake proves that
            // key.
            _ = try judge(policy, [bytes, root])
            #expect(!(try judge(certificatePolicy, [bytes, root]).accepted), "byte \(index)")
        }
        for index in root.indices {
            var bytes = root
            bytes[index] ^= 1 << UInt8(index % 8)
            _ = try judge(certificatePolicy, [leaf, bytes])
        }
    }

    @Test("a chain of hundreds of certificates is judged")
    func long() async throws {
        let root = try await issue("root", by: nil, authority)
        let leaf = try await issue("leaf", by: "root", server)
        let stranger = try await issue("stranger", by: nil, authority)
        let many = Array(repeating: stranger, count: 300)
        #expect(try judge(policy(pinning: leaf), [leaf] + many).accepted)
        #expect(!(try judge(policy(pinning: stranger), [leaf] + many).accepted))
        #expect(try judge(policy(pinning: root), [leaf, root] + many).accepted)
    }
}
