// SPDX-License-Identifier: Apache-2.0

import CCurl
import COpenSSL
package import FoundationEssentials
package import SessionCore
import Synchronization

/// Judges the handshakes that one transfer makes, and keeps why it refused.
///
/// The loop's thread makes the handshakes; what is kept may be read from any thread.
package final class TrustEvaluator: Sendable {
    /// What decides.
    package enum Judge: Sendable, Equatable {
        /// The security policy.
        case policy
        /// The trust roots and the name alone, as by the default policy.
        case roots
        /// A delegate, asked outside the handshake: a server with one of these certificates is accepted.
        case approvals(Set<Data>)
    }

    private struct Memory {
        var refusal: TrustRefusal?
        var peer: PeerTrust?
        var handshakes = 0
    }

    private let settings: TLSSettings
    private let host: TrustHost
    private let judge: Judge
    private let memory = Mutex(Memory())

    init(_ settings: TLSSettings, host: String, judge: Judge) {
        self.settings = settings
        self.host = TrustHost(host)
        self.judge = judge
    }

    /// Why the last handshake was refused; nil after one that was accepted, and before the first.
    package var refusal: TrustRefusal? { memory.withLock { $0.refusal } }
    /// What the server of the last handshake showed; nil before the first, and on a connection used again.
    package var peer: PeerTrust? { memory.withLock { $0.peer } }
    /// How many handshakes were judged.
    package var handshakeCount: Int { memory.withLock { $0.handshakes } }

    /// Judges a verification under way (`X509_STORE_CTX`), which ends with this call.
    package func accepts(_ verification: OpaquePointer) -> Bool {
        let sentName = copenssl_server_name(verification).map { String(cString: $0) }
        if settings.resolver != nil,
            TrustHost.ofHandshake(sentName: sentName, host: host, proxy: settings.resolver) == .proxy
        {
            // libcurl verifies its name by itself.
            return copenssl_verify(verification) == 0
        }
        switch TrustHost.ofHandshake(sentName: sentName, host: host, proxy: settings.proxy) {
        case .proxy:
            // The policy is about servers. libcurl verifies its proxy's name by itself.
            return copenssl_verify(verification) == 0
        case .server(let name):
            let facts = HandshakeFacts(verification, name, settings)
            let refusal = judgement(facts).refusal
            memory.withLock {
                $0.refusal = refusal
                $0.peer = PeerTrust(host: name.text, certificates: facts.presented)
                $0.handshakes += 1
            }
            let number = refusal.map {
                $0.verifyResult == 0 ? VerifyResult.applicationRefused.number : $0.verifyResult
            }
            copenssl_set_result(verification, Int32(truncatingIfNeeded: number ?? 0))
            return refusal == nil
        }
    }

    private func judgement(_ facts: HandshakeFacts) -> TrustJudgement {
        switch judge {
        case .policy: return settings.policy.judge(facts)
        case .roots: return SecurityPolicy.default.judge(facts)
        case .approvals(let approved):
            if let leaf = facts.presented.first, approved.contains(leaf.der) { return .accepted }
            let peer = PeerTrust(host: facts.host ?? "", certificates: facts.presented)
            return .refused(
                TrustRefusal(
                    .undecided, "no delegate has accepted the certificate of \(peer.host)",
                    advice: "answer the challenge for it", peer: peer))
        }
    }

    // MARK: libcurl and OpenSSL

    /// Called by libcurl for each connection before its handshake; refuses one that nothing would judge.
    static let onContext: ccurl_tls_function = { _, context, user in
        guard let context, let user else { return CURLE_SSL_CONNECT_ERROR }
        // The engine keeps the evaluator while its transfer runs; OpenSSL's own reference is for what comes
        // later: a connection is used by other transfers, and its server may ask for another handshake.
        let evaluator = Unmanaged<TrustEvaluator>.fromOpaque(user).retain()
        TLSContext.orderCiphers(of: context)
        if evaluator._withUnsafeGuaranteedRef({ $0.settings.sharesSystemRoots }) {
            guard SystemRoots.addDirectory(to: context) else {
                evaluator.release()
                return CURLE_SSL_CACERT_BADFILE
            }
        }
        if copenssl_install(context, verify, user, release) { return CURLE_OK }
        evaluator.release()
        return CURLE_SSL_CONNECT_ERROR
    }

    private static let verify: copenssl_verify_function = { verification, user in
        Unmanaged<TrustEvaluator>.fromOpaque(user).takeUnretainedValue().accepts(verification) ? 1 : 0
    }

    private static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { user in
        if let user { Unmanaged<TrustEvaluator>.fromOpaque(user).release() }
    }
}

/// The certificates that the delegate of a session has accepted, by server; on the loop's thread.
///
/// It lasts as long as the connections that were made by it: libcurl gives a connection that one task was
/// allowed to make to the next task as well, so an approval for one task holds for all.
package final class ServerTrustCache {
    private var certificates: [String: Set<Data>] = [:]

    /// The judge of a handshake with a server, named as in ``Transfer/origin``.
    func judge(for origin: String) -> TrustEvaluator.Judge { .approvals(certificates[origin] ?? []) }

    /// The delegate has accepted a server's own certificate (DER).
    func approve(_ certificate: Data, for origin: String) {
        certificates[origin, default: []].insert(certificate)
    }
}
