// SPDX-License-Identifier: Apache-2.0

import CCurl
import FoundationEssentials
import HTTPTypes
import SessionCore

extension EasyHandle {
    /// Sets everything that differs from the transfer before.
    func prepare(_ transfer: Transfer, _ configuration: SessionConfiguration) {
        clearMessage()
        ccurl_head_restart(head)
        setAddress(transfer.address, origin: transfer.origin)
        if options?.fits(transfer) != true { apply(EasyOptions(transfer, configuration)) }
        fitProxy(transfer)
        let ordinary = Self.ordinaryFields(transfer)
        if ordinary == nil || ordinary != ordinaryFields { prepareFields(transfer, transfer.request) }
        ordinaryFields = ordinary
        fitUploadBuffer(transfer.address)
    }

    /// Has libcurl ask a proxy where ``ProxyRules`` has found one, and nowhere else.
    ///
    /// By itself it reads `no_proxy` in another way: 7.88 knows neither brackets nor ranges of IPv6
    /// (lib/noproxy.c). An empty list has no exceptions (CURLOPT_NOPROXY(3)).
    private func fitProxy(_ transfer: Transfer) {
        // No proxy stands before a socket of this machine.
        let isDirect =
            !proxies.mayApply || transfer.route != nil || proxies.proxy(for: transfer.request.url) == nil
        guard isDirect != self.isDirect else { return }
        self.isDirect = isDirect
        set(CURLOPT_NOPROXY, isDirect ? "*" : "")
    }

    /// Has libcurl's buffer for uploads hold the whole head.
    ///
    /// What the kernel, or TLS, does not take of a head at once goes through that buffer, and what does not
    /// fit into it the first time is never sent (libcurl 7.88, `readmoredata` in lib/http.c): server and
    /// client would wait for each other.
    private func fitUploadBuffer(_ address: String) {
        // The address goes out twice with Digest; cookies are at most 8190 bytes (MAX_COOKIE_HEADER_LEN).
        let head = 2 * address.utf8.count + fieldsLength + (9 << 10)
        var size = options?.bodyBufferSize ?? 16 << 10
        while size < head, size < Self.largestUploadBuffer { size *= 4 }
        guard size != uploadBufferSize else { return }
        uploadBufferSize = size
        set(CURLOPT_UPLOAD_BUFFERSIZE, min(size, Self.largestUploadBuffer))
    }

    /// The most that libcurl takes; heads are at most half as long (DYN_HTTP_REQUEST in lib/dynbuf.h).
    private static let largestUploadBuffer = 2 << 20

    /// Whether a request without header fields of its own wants its content decoded; nil for others.
    private static func ordinaryFields(_ transfer: Transfer) -> Bool? {
        // Each asked for by itself: the request as a value would be copied.
        transfer.request.body == nil && transfer.request.method == .get
            && transfer.request.headerFields.isEmpty && transfer.options.omittedFields.isEmpty
            ? transfer.options.decompressesContent : nil
    }

    private func prepareFields(_ transfer: Transfer, _ request: SessionRequest) {
        let sent = SentFields(request)
        if request.body != nil {
            // Without a length libcurl sends chunks, where the connection speaks HTTP/1.1.
            set(CURLOPT_INFILESIZE_LARGE, offset: sent.isChunked ? -1 : transfer.body.length ?? -1)
        }
        let expects = sent.expectsContinue && transfer.heads.expectation == .asWanted
        if request.headerFields.contains(where: { $0.name.canonicalName == "host" && sent.sends($0) }) {
            keepsServerState = true
        }
        setHeaderLines { Self.headerLines(of: request, sent, expects: expects, $0) }
        // Behind those of the session, in one field (RFC 6265 §5.4).
        let cookies = sent.cookies
        set(CURLOPT_COOKIE, cookies)
        fieldsLength += cookies?.utf8.count ?? 0
    }

    /// The lines of a request's header fields, as `setHeaderLines` takes them; not the caller's cookies.
    ///
    /// - Parameter expects: whether the body waits until the server wants it.
    static func headerLines(
        of request: SessionRequest, _ sent: SentFields, expects: Bool, _ append: (String) -> Void
    ) {
        for field in request.headerFields where sent.sends(field) && field.name != .cookie {
            let value = field.value
            append(value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(value)")
        }
        // Not CURLOPT_ACCEPT_ENCODING: see `DecodingSink`.
        switch request.codingOffer {
        case .known: if let accepted = ContentCoding.accepted { append(accepted) }
        case .identity: append("Accept-Encoding: identity")
        case nil: break
        }
        if let options = sent.connectionOptions { append("Connection: \(options)") }
        for name in request.options.omittedFields
        where request.headerFields[name] == nil && sent.canOmit(name) {
            append("\(name.rawName):")
        }
        if request.body != nil {
            // Not unless asked for: a refusal comes soon enough, and many servers never send 100 (Continue).
            append(expects ? "Expect: 100-continue" : "Expect:")
        } else if request.method == .post || request.method == .put || request.method == .patch {
            // RFC 9110 §8.6: a method that means a body says that there is none.
            append("Content-Length: 0")
        }
    }

    private func apply(_ new: EasyOptions) {
        let old = options
        guard old != new else { return }
        options = new
        if old?.method != new.method || old?.hasBody != new.hasBody {
            set(CURLOPT_NOBODY, 0)
            if new.hasBody {
                set(CURLOPT_UPLOAD, 1)
                set(CURLOPT_CUSTOMREQUEST, new.method)
            } else if new.method == "HEAD" {
                set(CURLOPT_HTTPGET, 1)
                set(CURLOPT_CUSTOMREQUEST, nil)
                set(CURLOPT_NOBODY, 1)
            } else {
                set(CURLOPT_HTTPGET, 1)
                set(CURLOPT_CUSTOMREQUEST, new.method == "GET" ? nil : new.method)
            }
        }
        set(CURLOPT_HTTP_VERSION, new.version)
        // A second request waits to share a connection whose handshake may agree on HTTP/2. Without TLS there
        // is nothing to wait for, and libcurl would wait for the first response.
        let multiplexes = new.version == CURL_HTTP_VERSION_2TLS || new.version == CURL_HTTP_VERSION_3
        set(CURLOPT_PIPEWAIT, multiplexes ? 1 : 0)
        if old?.needsNewConnection == true || new.needsNewConnection {
            set(CURLOPT_FRESH_CONNECT, new.needsNewConnection ? 1 : 0)
        }
        if old?.connectsOnly == true || new.connectsOnly {
            set(CURLOPT_CONNECT_ONLY, new.connectsOnly ? 1 : 0)
            // A trial is content with the proxy itself.
            set(CURLOPT_HTTPPROXYTUNNEL, new.tunnels ? 1 : 0)
        }
        if old?.continueMilliseconds != new.continueMilliseconds {
            set(CURLOPT_EXPECT_100_TIMEOUT_MS, new.continueMilliseconds ?? 1000)
        }
        set(CURLOPT_CONNECTTIMEOUT_MS, new.connectMilliseconds)
        set(CURLOPT_INTERFACE, new.interface)
        set(CURLOPT_BUFFERSIZE, new.bufferSize)
        set(CURLOPT_PROXY, new.proxy)
        if old?.route !== new.route {
            if let route = new.route { route.calls.set(route, self) } else { leaveSocket() }
        }
        if old?.credentials != new.credentials { apply(new.credentials) }
        if old?.cookies != new.cookies {
            // A handle without cookies has released the shared jar, and would make one of its own.
            if new.cookies, old != nil { set(CURLOPT_SHARE, pointer: share) }
            set(CURLOPT_COOKIEFILE, new.cookies ? "" : nil)
        }
    }
}

extension EasyHandle {
    /// Goes over the network again.
    private func leaveSocket() {
        set(CURLOPT_UNIX_SOCKET_PATH, nil)
    }
}

/// The schemes that libcurl carries out; only the one that the server was found to want.
extension EasyHandle {
    private func apply(_ credentials: LibraryCredentials?) {
        let isProxy = credentials?.isProxy == true
        let scheme =
            switch credentials?.scheme {
            case .digest: Int(CCURL_AUTH_DIGEST)
            case .ntlm: Int(CCURL_AUTH_NTLM)
            case .negotiate: Int(CCURL_AUTH_NEGOTIATE)
            default: Int(CCURL_AUTH_BASIC)
            }
        set(CURLOPT_HTTPAUTH, isProxy ? Int(CCURL_AUTH_BASIC) : scheme)
        set(CURLOPT_USERNAME, isProxy ? nil : credentials?.user)
        set(CURLOPT_PASSWORD, isProxy ? nil : credentials?.password)
        set(CURLOPT_PROXYAUTH, isProxy ? scheme : Int(CCURL_AUTH_BASIC))
        set(CURLOPT_PROXYUSERNAME, isProxy ? credentials?.user : nil)
        set(CURLOPT_PROXYPASSWORD, isProxy ? credentials?.password : nil)
    }
}

/// The options that rarely differ from one transfer of a handle to the next; an object, so that comparing
/// copies nothing.
final class EasyOptions {
    let method: String
    let hasBody: Bool
    let version: Int
    let connectMilliseconds: Int
    /// nil for libcurl's own, 1 s.
    let continueMilliseconds: Int?
    let interface: String?
    let cookies: Bool
    let bufferSize: Int
    let bodyBufferSize: Int
    let proxy: String?
    let credentials: LibraryCredentials?
    let needsNewConnection: Bool
    let route: SocketRoute?
    let isTrial: Bool
    /// Whether a proxy has to make a tunnel, also without TLS.
    let tunnels: Bool
    var connectsOnly: Bool { isTrial || tunnels }
    /// The sources of the other options, compared instead of them.
    private let source: SharedRequestOptions
    private let isSecure: Bool
    private let isBulk: Bool
    private let binding: PathBinding

    init(_ transfer: Transfer, _ configuration: SessionConfiguration) {
        let request = transfer.request
        let options = transfer.options
        method = request.method.rawValue
        hasBody = request.body != nil
        version =
            switch options.maximumHTTPVersion {
            case .http1_0: CURL_HTTP_VERSION_1_0
            case .http1_1: CURL_HTTP_VERSION_1_1
            case .http2, nil:
                transfer.isSecure && !transfer.isAlone ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
            // Both versions are tried, HTTP/2 a little later (CURLOPT_HTTP_VERSION(3)). A connection that is
            // handed over has a socket of TCP.
            case .http3 where transfer.isTrial || transfer.takeover != nil:
                CURL_HTTP_VERSION_2TLS
            case .http3:
                transfer.isSecure && !transfer.isAlone ? CURL_HTTP_VERSION_3 : CURL_HTTP_VERSION_1_1
            }
        connectMilliseconds = max(
            1, min((options.timeouts.connect ?? options.longestSilence).milliseconds, Int(Int32.max)))
        continueMilliseconds = options.continueTimeout.map { max(0, min($0.milliseconds, Int(Int32.max))) }
        // An address or a host name would be understood as well without the prefix (CURLOPT_INTERFACE(3)).
        route = transfer.route
        interface = route == nil ? transfer.interface(configuration).map { "if!\($0)" } : nil
        cookies = options.handlesCookies && route?.isNamedByURL != true
        // Big buffers only where they pay: every running transfer has its own.
        let most = min(
            options.maximumBytesPerSecond.map(TransferPace.piece) ?? .max,
            configuration.maximumDownloadBytesPerSecond.map(TransferPace.piece) ?? .max)
        bufferSize = min(most, transfer.isBulk ? 256 << 10 : 16 << 10)
        bodyBufferSize = Self.bodyBufferSize(hasBody ? transfer.body.length ?? .max : 0)
        proxy = configuration.proxy
        credentials = transfer.credentials
        needsNewConnection = transfer.needsNewConnection
        isTrial = transfer.isTrial
        tunnels = transfer.takeover != nil
        source = request.sharedOptions
        isSecure = transfer.isSecure
        isBulk = transfer.isBulk
        binding = transfer.binding
    }

    /// What libcurl's buffer for uploads has to hold of a body: the least that libcurl takes
    /// (CURLOPT_UPLOAD_BUFFERSIZE(3)) where that is enough, since with TLS it copies the head of each request
    /// there.
    private static func bodyBufferSize(_ bodyLength: Int64) -> Int {
        if bodyLength <= 16 << 10 { 16 << 10 } else if bodyLength <= 128 << 10 { 64 << 10 } else { 256 << 10 }
    }

    /// Whether a transfer needs the same options; compared by their sources, since mostly it does.
    func fits(_ transfer: Transfer) -> Bool {
        !hasBody && transfer.request.body == nil && credentials == nil && transfer.credentials == nil
            && isSecure == transfer.isSecure && isBulk == transfer.isBulk
            && needsNewConnection == transfer.needsNewConnection && binding == transfer.binding
            && isTrial == transfer.isTrial && tunnels == (transfer.takeover != nil)
            && route === transfer.route
            && method == transfer.request.method.rawValue
            && source.equals(transfer.request.sharedOptions)
    }
}

extension EasyOptions: Equatable {
    /// Compares what the other options are derived from.
    static func == (one: EasyOptions, other: EasyOptions) -> Bool {
        one.method == other.method && one.hasBody == other.hasBody
            && one.bodyBufferSize == other.bodyBufferSize && one.credentials == other.credentials
            && one.source.equals(other.source) && one.isSecure == other.isSecure && one.isBulk == other.isBulk
            && one.binding == other.binding && one.needsNewConnection == other.needsNewConnection
            && one.isTrial == other.isTrial && one.tunnels == other.tunnels && one.route === other.route
    }
}
