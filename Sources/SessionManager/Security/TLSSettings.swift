// SPDX-License-Identifier: Apache-2.0

import CCurl
import CLinux
import COpenSSL
package import FoundationEssentials
import Glibc
package import SessionCore

/// A security policy made ready for libcurl: files read, anchors built, each backend's way chosen.
///
/// How an engine uses it:
/// - One object for each policy, made when the session starts (it reads files) and never changed.
/// - ``configure(_:)`` once for each easy handle.
/// - ``begin(_:host:judge:)`` before each transfer over https. The engine keeps the evaluator until the transfer has ended.
/// - ``error(_:_:url:evaluator:)`` for a result of libcurl that has to do with TLS.
///
/// libcurl reuses connections whose own options are the same and knows nothing of policies. So all transfers
/// of one multi handle, and of what it shares, have the same `TLSSettings`; a change of the policy takes
/// another multi handle or the end of all connections, as does a certificate that is accepted only once.
package final class TLSSettings: Sendable {
    package let policy: SecurityPolicy
    package let plan: TLSPlan
    /// The proxy that is spoken to by TLS, which has certificates of its own.
    let proxy: TrustHost?
    /// The server that looks names up by https, which is no server of the policy either.
    let resolver: TrustHost?
    let pinnedKeys: Set<PublicKeyPin>
    let pinnedAnchors: TrustAnchors?
    let extraAnchors: TrustAnchors?
    private let roots: Roots
    /// Whether the connections of a session share what was read of the system's authorities.
    let sharesSystemRoots: Bool
    /// Whether libcurl's TLS is an OpenSSL whose functions can be called.
    private let hasOpenSSL: Bool

    private enum Roots: Sendable {
        case system
        case file(String)
        case blob([UInt8])
    }

    /// Makes a policy ready; `asks` where delegates are asked about servers.
    ///
    /// A proxy that is spoken to by TLS and not named by `tlsProxy`, a URL, is judged like the servers.
    /// Throws for unreadable files, and ``SessionError/Code/missingLibrary`` for what this libcurl cannot do.
    package init(
        _ policy: SecurityPolicy, _ library: CurlLibrary, asks: Bool = false, tlsProxy: String? = nil,
        resolver: String? = nil
    ) throws(SessionError) {
        self.policy = policy
        plan = try TLSPlan(policy, TLSBackend(library.tlsBackend), asks: asks)
        proxy = tlsProxy.flatMap { TrustHost(proxy: $0) }
        self.resolver = resolver.flatMap { TrustHost(proxy: $0) }
        roots = try Self.roots(plan.onlyRoots)
        hasOpenSSL = TLSBackend(library.tlsBackend) == .openSSL && (try? OpenSSL.load()) != nil
        sharesSystemRoots =
            hasOpenSSL && plan.verifiesPeer && plan.onlyRoots == nil && SystemRoots.canBeShared(library)
        if plan.isEvaluated {
            try OpenSSL.load()
            let keys = policy.pinnedCertificates.compactMap { CertificateContents($0)?.publicKeyInfo }
            pinnedKeys =
                policy.pinningMode == .publicKey
                ? policy.pinnedKeys.union(keys.compactMap(OpenSSL.pin(ofKey:))) : []
            pinnedAnchors = policy.pinningMode == .certificate ? TrustAnchors(policy.pinnedCertificates) : nil
            extraAnchors = try (plan.extraRoots?.load()).flatMap { TrustAnchors($0) }
        } else {
            (pinnedKeys, pinnedAnchors, extraAnchors) = ([], nil, nil)
        }
        for path in policy.clientIdentity?.files ?? [] {
            if let fault = FileFailure.fault(ofPath: path) { throw fault }
            guard access(path, R_OK) == 0 else {
                throw SessionError(
                    .noPermissionsToReadFile, "the client identity's file \(TextQuote(path)) cannot be read",
                    advice: "check that it exists and that this user may read it", domain: .security)
            }
            // libcurl reads it on the loop's thread, which a pipe without a writer would stop.
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                throw SessionError(
                    .cannotOpenFile, "the client identity's file \(TextQuote(path)) is no regular file",
                    advice: "copy its content into a file", domain: .security)
            }
        }
    }

    private static func roots(_ source: TrustRoots.Source?) throws(SessionError) -> Roots {
        guard let source else { return .system }
        let certificates = try source.load()
        guard !certificates.isEmpty else {
            throw SessionError(
                .invalidSecurityPolicy, "there is no trusted authority, so no server could be trusted",
                advice: "name certificates of authorities", domain: .security)
        }
        // A PEM file is left to libcurl, which keeps what it has read for all connections.
        if case .file(let path) = source, (try? Data(contentsOf: URL(filePath: path)))?.first != 0x30 {
            return .file(path)
        }
        return .blob(Array(PEM.text(certificates).utf8))
    }

    /// Sets what is the same for all transfers of an easy handle (`CURL *`), which the caller owns.
    package func configure(_ easy: UnsafeMutableRawPointer) throws(SessionError) {
        let options = TLSOptions(easy)
        try options.set(CURLOPT_SSLVERSION, options.version(plan.minimumVersion))
        try options.set(CURLOPT_SSL_VERIFYPEER, plan.verifiesPeer ? 1 : 0)
        try options.set(CURLOPT_SSL_VERIFYHOST, plan.verifiesHost ? 2 : 0)
        try options.set(CURLOPT_SSL_SESSIONID_CACHE, plan.resumesSessions ? 1 : 0)
        switch roots {
        case .system: if sharesSystemRoots { try SystemRoots.share(options) }
        // A directory that libcurl was built with would stay in force beside a file.
        case .file(let path):
            try options.set(CURLOPT_CAPATH, nil)
            try options.set(CURLOPT_CAINFO, path)
        case .blob(let bytes):
            try options.set(CURLOPT_CAPATH, nil)
            try options.set(CURLOPT_CAINFO, nil)
            try options.set(CURLOPT_CAINFO_BLOB, bytes)
        }
        if let pins = plan.pins { try options.set(CURLOPT_PINNEDPUBLICKEY, pins) }
        if let identity = plan.identity { try options.set(identity) }
        if plan.isEvaluated {
            try options.check(
                ccurl_set_tls_function(easy, TrustEvaluator.onContext), CURLOPT_SSL_CTX_FUNCTION)
            try options.check(ccurl_set_pointer(easy, CURLOPT_SSL_CTX_DATA, nil), CURLOPT_SSL_CTX_DATA)
        } else if hasOpenSSL {
            try TLSContext.prepare(easy, options, sharesRoots: sharesSystemRoots)
        }
    }

    /// Prepares an easy handle for a transfer to a host; nil where libcurl's own verification is all.
    ///
    /// The caller keeps the evaluator until libcurl has finished with the transfer: the handle refers to it
    /// unowned. A handle without a call of this function makes no connection where servers are judged.
    package func begin(
        _ easy: UnsafeMutableRawPointer, host: @autoclosure () -> String,
        judge: TrustEvaluator.Judge = .policy
    ) -> TrustEvaluator? {
        guard plan.isEvaluated else { return nil }
        let evaluator = evaluator(host: host(), judge: judge)
        _ = ccurl_set_pointer(easy, CURLOPT_SSL_CTX_DATA, Unmanaged.passUnretained(evaluator).toOpaque())
        return evaluator
    }

    /// What judges a host's handshakes.
    package func evaluator(host: String, judge: TrustEvaluator.Judge) -> TrustEvaluator {
        TrustEvaluator(self, host: host, judge: judge)
    }

    /// The error for libcurl's result, where that has to do with TLS; nil where not.
    ///
    /// Asked before the handle is used again: what was verified is read from it.
    package func error(
        _ failure: TransportFailure, _ easy: UnsafeMutableRawPointer, url: URL?, evaluator: TrustEvaluator?
    ) -> SessionError? {
        var result = 0
        if ccurl_get_long(easy, CURLINFO_SSL_VERIFYRESULT, &result) != CURLE_OK { result = 0 }
        return .tls(
            failure, verifyResult: result, refusal: evaluator?.refusal, url: url,
            showsIdentity: policy.clientIdentity != nil,
            // Asked after a failure alone: it reads a file.
            lacksPassphrase: failure.curlCode == 58 && policy.clientIdentity?.lacksPassphrase == true,
            roots: plan.onlyRoots.flatMap { OutdatedRoots($0, at: Date()) })
    }

    /// Ends what ``begin(_:host:judge:)`` began.
    package func end(_ easy: UnsafeMutableRawPointer) {
        if plan.isEvaluated { _ = ccurl_set_pointer(easy, CURLOPT_SSL_CTX_DATA, nil) }
    }
}
