// SPDX-License-Identifier: Apache-2.0

public import HTTPTypes

/// Under which conditions a request is sent.
///
/// The defaults are AFNetworking's: 60 s without a byte, cookies on, the protocol's own caching.
public struct RequestOptions: Sendable, Equatable, Configurable {
    /// How long a transfer may be silent: no byte sent or received; 60 s.
    ///
    /// Covers looking up the name, connecting and waiting for the first byte, each step anew. Time in which a
    /// task is suspended or waits for its turn does not count. Zero is no limit.
    public var timeoutInterval: Duration = .seconds(60)
    /// ``timeoutInterval``, with a hundred years for no limit.
    @inlinable package var longestSilence: Duration {
        timeoutInterval > .zero ? timeoutInterval : .seconds(100 * 366 * 86_400)
    }
    /// Finer limits beside ``timeoutInterval``.
    public var timeouts = RequestTimeouts()
    /// What the response cache may do.
    public var cachePolicy: CachePolicy = .useProtocolCachePolicy
    /// Whether the request may go over a link that costs by volume (a modem, a telephone); true.
    ///
    /// Otherwise its task waits in the manager's queue while the path that the queue follows is expensive.
    public var allowsExpensiveNetwork = true
    /// Whether the request may go over a link on which data is to be saved (low data); true.
    ///
    /// Otherwise its task waits in the manager's queue while the path that the queue follows is constrained.
    public var allowsConstrainedNetwork = true
    /// Whether cookies are sent and stored; true.
    public var handlesCookies = true
    /// What the traffic is for: the DSCP of its packets (RFC 8837 §5), over connections with the same.
    public var networkServiceType: NetworkServiceType = .default
    /// The interface that the connection is bound to (SO_BINDTODEVICE, socket(7)); nil for any.
    public var interface: String?
    /// Whether `Accept-Encoding` is sent and the content decoded; true.
    public var decompressesContent = true
    /// The most content in bytes, after decoding, that a response may have; nil for no limit.
    ///
    /// Above it a task fails with ``SessionError/Code/dataLengthExceedsMaximum``. Managers have a default.
    public var maximumContentLength: Int64?
    /// The newest protocol version that is offered; nil: the server chooses (HTTP/2 over TLS, else HTTP/1.1).
    ///
    /// With ``HTTPVersion/http3`` over TLS both are tried, and HTTP/2 serves where HTTP/3 does not connect; a
    /// libcurl that was built without HTTP/3 fails with ``SessionError/Code/missingLibrary``.
    public var maximumHTTPVersion: HTTPVersion?
    /// How long a body waits until the server wants it (`Expect: 100-continue`, RFC 9110 §10.1.1); nil, the
    /// default, sends it with the head.
    ///
    /// A server that refuses the request by its head (401, 413) then gets no body, so one that cannot be read
    /// twice is still there for the next try. After this time it is sent all the same, since many servers
    /// never answer before they have it. A server that refuses to be asked (417) gets the request again
    /// without. Over HTTP/2 the body does not wait. The field `Expect` of a request does the same, with 1 s.
    public var continueTimeout: Duration?
    /// The most bytes a second, in each direction and on average; nil for as fast as it goes.
    public var maximumBytesPerSecond: Int64?
    /// The most bytes a second of the body, on average; nil for ``maximumBytesPerSecond``.
    public var maximumUploadBytesPerSecond: Int64?
    /// The most content of a TCP segment, both ways (TCP_MAXSEG, tcp(7)); nil for what the links take.
    package var maximumSegmentSize: Int?
    /// Header fields that are not sent although they are otherwise, such as `Accept`; none.
    public var omittedFields: [HTTPField.Name] = []
    /// Header fields with secrets beside those of ``SensitiveFields``, such as a service's own key; none.
    ///
    /// They do not follow a redirect to another origin and are not printed.
    public var sensitiveFields: [HTTPField.Name] = []

    /// The defaults.
    public init() {}
}

/// Limits of a transfer's steps; nil where only ``RequestOptions/timeoutInterval`` holds.
public struct RequestTimeouts: Sendable, Equatable {
    /// From the start to a connection that can be used, name look-up and TLS included.
    public var connect: Duration?
    /// From the moment the whole request has been sent, body included, to the first byte of the response.
    ///
    /// A server that falls silent later is a matter of ``RequestOptions/timeoutInterval``.
    public var firstByte: Duration?
    /// From the first resume to the end of the whole task, redirects and retries included.
    ///
    /// Time in which the task is suspended, held by its queue, or waits for a connection does not count.
    public var total: Duration?

    /// Limits.
    public init(connect: Duration? = nil, firstByte: Duration? = nil, total: Duration? = nil) {
        self.connect = connect
        self.firstByte = firstByte
        self.total = total
    }
}

/// How a request uses the response cache.
public enum CachePolicy: String, Sendable, Codable, CaseIterable {
    /// RFC 9111 decides.
    case useProtocolCachePolicy
    /// The cache is neither asked nor used; what comes may still be stored.
    case reloadIgnoringLocalCacheData
    /// Whatever is stored is used, however old; else the network.
    case returnCacheDataElseLoad
    /// Whatever is stored is used; else the task fails with ``SessionError/Code/resourceUnavailable``.
    case returnCacheDataDontLoad
    /// What is stored is used only after the server has confirmed it.
    case reloadRevalidatingCacheData
}

/// What traffic is for.
public enum NetworkServiceType: String, Sendable, Codable, CaseIterable {
    /// Nothing special: what the system marks its packets with, mostly 0.
    case `default`
    /// May be slow. DSCP LE, 1 (RFC 8622).
    case background
    /// A voice or a picture that is heard or seen at this moment. DSCP EF, 46 (RFC 3246).
    case realTime
    /// A user waits for the answer. DSCP AF21, 18 (RFC 2597).
    case responsiveData

    /// The differentiated services code point, 0 to 63 (RFC 8837 §5, table 1); nil leaves the system's.
    package var codePoint: Int32? {
        switch self {
        case .default: nil
        case .background: 1
        case .realTime: 46
        case .responsiveData: 18
        }
    }
}

/// A version of HTTP.
public enum HTTPVersion: String, Sendable, Codable, CaseIterable, Comparable {
    /// HTTP/1.0 (RFC 1945).
    case http1_0 = "HTTP/1.0"
    /// HTTP/1.1 (RFC 9112).
    case http1_1 = "HTTP/1.1"
    /// HTTP/2 (RFC 9113).
    case http2 = "HTTP/2"
    /// HTTP/3 (RFC 9114).
    case http3 = "HTTP/3"

    /// Older versions come first.
    public static func < (left: HTTPVersion, right: HTTPVersion) -> Bool { left.rawValue < right.rawValue }
}

/// Options that never change, shared by reference between the requests that have them.
package final class SharedRequestOptions: Sendable {
    package let value: RequestOptions

    init(_ value: RequestOptions) { self.value = value }

    /// Those of a request without options.
    static let defaults = SharedRequestOptions(RequestOptions())

    /// Whether the options are the same; mostly it is the same object.
    package func equals(_ other: SharedRequestOptions) -> Bool { self === other || value == other.value }
}
