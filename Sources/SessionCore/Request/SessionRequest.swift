// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import HTTPTypes

/// What is to be sent: where, how, with which header fields and body, under which conditions.
///
/// A value: serializers, adapters and redirects return changed copies. Only `http` and `https` are spoken, over
/// the network or to a socket of this machine (`http+unix`, `https+unix`).
public struct SessionRequest: Sendable {
    /// Where it goes.
    ///
    /// A fragment is kept here and never sent (RFC 9110 §4.2.5).
    public var url: URL
    /// The method (RFC 9110 §9); `.get` unless said otherwise.
    public var method: HTTPRequest.Method
    /// What is sent besides the fields that the transfer itself needs (`Host`, `Content-Length`, …).
    ///
    /// Fields about framing and the connection are sent where the transfer does what they say:
    /// `Transfer-Encoding: chunked` has a body sent in chunks, `Expect: 100-continue` has it wait, `TE` may
    /// ask for `trailers`. `Content-Length`, `Trailer` and other codings are left out.
    ///
    /// A field value never contains CR, LF or NUL: `HTTPField` does not take them. Use
    /// ``setValue(_:forHeader:)`` to get an error.
    public var headerFields: HTTPFields
    /// The content; nil for none at all, which differs from an empty one.
    public var body: RequestBody?
    /// Time-outs, cache policy, interface and the other conditions.
    public var options: RequestOptions {
        get { sharedOptions.value }
        set { sharedOptions = SharedRequestOptions(newValue) }
    }
    /// The same by reference: many conditions, and the same ones in most requests.
    package private(set) var sharedOptions: SharedRequestOptions

    /// A request.
    ///
    /// - Parameter options: nil for the defaults.
    public init(
        url: URL, method: HTTPRequest.Method = .get, headerFields: HTTPFields = HTTPFields(),
        body: RequestBody? = nil, options: RequestOptions? = nil
    ) {
        self.url = url
        self.method = method
        self.headerFields = headerFields
        self.body = body
        sharedOptions = options.map { SharedRequestOptions($0) } ?? .defaults
    }

    /// A request for an address written as text.
    ///
    /// - Parameter options: nil for the defaults.
    /// - Throws: ``SessionError/Code/badURL`` where the text is no absolute `http` or `https` URL (RFC 3986),
    ///   and none of a socket, as `http+unix://%2Frun%2Fsnapd.socket/v2/apps`. Nothing is escaped for the
    ///   caller: a space is an error here, not `%20`.
    public init(
        _ address: String, method: HTTPRequest.Method = .get, headerFields: HTTPFields = HTTPFields(),
        body: RequestBody? = nil, options: RequestOptions? = nil
    ) throws(SessionError) {
        self.init(
            url: try URL(carried: address), method: method, headerFields: headerFields, body: body,
            options: options)
    }

    /// Replaces a header field, or removes it with nil; names are compared without regard to case.
    ///
    /// - Throws: ``SessionError/Code/invalidHeaderField`` where the name is no token or the value has a
    ///   control byte (RFC 9110 §5.5), which would smuggle further fields into the request.
    public mutating func setValue(_ value: String?, forHeader name: String) throws(SessionError) {
        try headerFields.setChecked(value, forHeader: name)
    }

    /// The value of a header field, several joined by a comma; nil where there is none.
    ///
    /// Names are compared without regard to case.
    public func value(forHeader name: String) -> String? {
        HTTPField.Name(name).flatMap { headerFields[$0] }
    }
}
