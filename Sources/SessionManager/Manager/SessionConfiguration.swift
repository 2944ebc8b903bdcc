// SPDX-License-Identifier: Apache-2.0

public import SessionCore

/// What all tasks of a manager have in common, fixed when the manager is made.
public struct SessionConfiguration: Sendable, Equatable, Codable, Configurable {
    /// How many connections a host gets at most; 6.
    ///
    /// Over HTTP/2 a connection carries up to 100 transfers, and another one is opened when they are taken.
    /// What exceeds it waits, without a time-out.
    public var maximumConnectionsPerHost = 6
    /// How many connections are kept open for later; 32.
    public var maximumIdleConnections = 32
    /// The most content in bytes of a response in memory, where the request does not say; 64 MiB.
    ///
    /// A device has little memory and a server may be hostile. Downloads to files have no such limit.
    public var maximumContentLengthInMemory: Int64 = 64 << 20
    /// The interface of connections (SO_BINDTODEVICE, socket(7)), where a request names none; nil for any.
    public var interface: String?
    /// What running transfers do when traffic turns to another interface while theirs works; they stay.
    public var betterPath = BetterPathPolicy.stay
    /// The proxy, as `http://host:port` or `socks5h://host:port`; nil follows the environment, empty uses none.
    ///
    /// The environment's are `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` (libcurl-env(3)); where none was named when the
    /// session was made, none is looked for later. Credentials stand in the address, `http://user:password@host:port`, or are asked of
    /// the handler of challenges, except those for SOCKS.
    public var proxy: String?
    /// The socket of this machine that all requests go to, whatever host their URLs name (unix(7)); nil for
    /// none.
    ///
    /// A whole path, or `@` and the name of an abstract socket. The host of a URL goes into the field `Host`:
    /// `http://localhost/v2/apps`. One socket alone can also stand in a URL, `http+unix://%2Frun%2Fsnapd.socket/v2/apps`,
    /// without this setting. Neither needs a network, nor waits for one, nor uses ``proxy`` and
    /// ``interface``.
    public var unixSocket: String?
    /// Addresses of hosts, which are not looked up then: `HOST:PORT:ADDRESS[,ADDRESS]…` (CURLOPT_RESOLVE(3)).
    public var hostAddresses: [String] = []
    /// The server that looks names up by https (RFC 8484), as `https://dns.example/dns-query`; nil asks the
    /// system's resolver.
    ///
    /// Every name goes there (CURLOPT_DOH_URL(3)), those of hosts(5) and of the local network too, but for
    /// `localhost`, those of ``hostAddresses`` and what a proxy looks up. The server's own name is the
    /// system's to look up, unless it is an address or in ``hostAddresses``. It is verified by the trust
    /// roots of the security policy, by older versions of libcurl (7.88) by the system's as well, and neither
    /// pins nor a permission of invalid certificates are for it. Nothing of a name goes to a name server in
    /// the clear, also where a line is left: <doc:TheLineBehindTheRouter>.
    ///
    /// The first transfer fails with ``SessionError/Code/missingLibrary`` where libcurl was built without it,
    /// and with ``SessionError/Code/unsupportedURL`` for a URL without TLS.
    public var dnsOverHTTPS: String?
    /// The file of alternative services (`Alt-Svc`, RFC 7838), in the format of `curl --alt-svc`; empty for
    /// memory alone, nil for none, the default.
    ///
    /// A server over TLS names another port, host or version by which it may be asked; its certificate has to
    /// be for the host of the URL as before. libcurl keeps the list (CURLOPT_ALTSVC(3)): it is read when
    /// the session sends its first request and written when the session ends, and a transfer beside others
    /// may not know yet what another one was told. HTTP/3 is among the alternatives where libcurl has it.
    ///
    /// The first transfer fails with ``SessionError/Code/missingLibrary`` where libcurl was built without it,
    /// and with the reason where the file is there and cannot be read.
    public var alternativeServices: String?
    /// Whether requests with a body may go by HTTP/2; nil, the default: where libcurl is 8.2 or newer.
    ///
    /// Older ones (Debian 12 has 7.88) send a wrong body over HTTP/2 where the connection's buffer is full,
    /// as while several uploads share a slow network. `true`, at that risk, is for servers that want HTTP/2.
    public var sendsBodiesByHTTP2: Bool?
    /// The most bytes of content a second that all transfers of the session receive together; nil for no
    /// limit.
    ///
    /// For a device that shares its line with others. Each transfer's own limits hold besides
    /// (``SessionCore/RequestOptions/maximumBytesPerSecond``).
    public var maximumDownloadBytesPerSecond: Int64?
    /// The most bytes of bodies a second that all transfers of the session send together; nil for no limit.
    public var maximumUploadBytesPerSecond: Int64?
    /// How redirects are followed, and which fields beside the usual secrets no other origin gets: neither
    /// the target of a redirect nor a mirror (``TaskOptions/mirrors``).
    public var redirects = RedirectRules()

    /// The defaults.
    public init() {}

    /// The proxy, where it is spoken to by TLS.
    var tlsProxy: String? { proxy.flatMap { $0.hasPrefix("https://") ? $0 : nil } }

    /// Handles are kept for as many transfers as often run at once.
    var maximumIdleHandles: Int { max(64, maximumConnectionsPerHost) }
}
