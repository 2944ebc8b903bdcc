// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes

/// Which header fields of a request are sent, and how its content is framed.
///
/// Framing and the connection belong to the transfer (RFC 9110 §7.6.1, RFC 9112 §6, §9). A caller's field
/// about them is sent where the transfer does what it says, else left out.
package struct SentFields: Sendable {
    /// Whether content of a known length is sent in chunks all the same, as the caller has asked.
    package let isChunked: Bool
    /// The connection options, where those that the caller names lack needed ones.
    package let connectionOptions: String?
    /// Whether the content waits until the server wants it (RFC 9110 §10.1.1).
    package let expectsContinue: Bool
    /// The caller's cookies, of all its fields; nil for none.
    package let cookies: String?
    private let speaksHTTP1_0: Bool

    package init(_ request: SessionRequest) {
        let hasContent = request.body != nil
        speaksHTTP1_0 = request.sharedOptions.value.maximumHTTPVersion == .http1_0
        let fields = request.headerFields
        isChunked =
            hasContent && !speaksHTTP1_0
            && fields.contains { $0.name == .transferEncoding && Self.members($0.value).contains("chunked") }
        // A server of HTTP/1.0 knows no expectation, and with no content there is nothing to wait.
        expectsContinue =
            hasContent && !speaksHTTP1_0
            && (request.sharedOptions.value.continueTimeout != nil
                || fields.contains { $0.name == .expect && Self.members($0.value) == ["100-continue"] })
        connectionOptions = Self.connectionOptions(fields)
        let cookies = fields.filter { $0.name == .cookie && !$0.value.isEmpty }.map(\.value)
        self.cookies = cookies.isEmpty ? nil : cookies.joined(separator: "; ")
    }

    /// Whether a field of the request is sent as it is.
    package func sends(_ field: HTTPField) -> Bool {
        switch field.name.canonicalName {
        // The length is that of the body (RFC 9112 §6.2), and its coding the one in which it is sent (§6.1).
        case "content-length", "transfer-encoding": false
        // No trailer section is sent (RFC 9110 §6.6.2).
        case "trailer": false
        // Content in a transfer coding that was asked for would not be decoded (RFC 9110 §10.1.4).
        case "te": Self.isTrailers(field.value)
        // Written by the transfer, where it waits.
        case "expect": false
        case "connection": connectionOptions == nil
        // An empty one means a target without an authority, which there is none of (RFC 9112 §3.2).
        case "host": !field.value.isEmpty
        default: true
        }
    }

    /// Whether a field that the transfer writes can be left out: not the framing, no `Host` since HTTP/1.1.
    package func canOmit(_ name: HTTPField.Name) -> Bool {
        switch name.canonicalName {
        case "content-length", "transfer-encoding": false
        case "host": speaksHTTP1_0
        default: true
        }
    }

    /// The options to name for the fields that hold for this connection alone (RFC 9110 §7.8, §10.1.4).
    private static func connectionOptions(_ fields: HTTPFields) -> String? {
        var missing: [String] = []
        if fields.contains(where: { $0.name == .te && isTrailers($0.value) }) { missing.append("TE") }
        if fields.contains(where: { $0.name == .upgrade }) { missing.append("Upgrade") }
        guard !missing.isEmpty else { return nil }
        let named = fields.filter { $0.name == .connection }.map(\.value)
        missing.removeAll { option in named.contains { members($0).contains(option.lowercased()) } }
        return missing.isEmpty ? nil : (named + missing).joined(separator: ", ")
    }

    private static func isTrailers(_ value: String) -> Bool { members(value) == ["trailers"] }

    /// The members of a list in lower case (RFC 9110 §5.6.1).
    private static func members(_ value: String) -> [String] {
        value.split(separator: ",").map { $0.trimmingBlanks.lowercased() }
    }
}

/// What a transfer says about the codings of the content that it wants (RFC 9110 §12.5.3).
package enum CodingOffer: Sendable {
    /// All that can be decoded.
    case known
    /// None.
    case identity
}

extension SessionRequest {
    /// What the transfer writes as `Accept-Encoding`; nil where it is the caller's, or left out.
    ///
    /// A part of encoded content cannot be decoded, and ranges count the encoded bytes (RFC 9110 §14.2).
    package var codingOffer: CodingOffer? {
        guard options.decompressesContent, headerFields[.acceptEncoding] == nil,
            !options.omittedFields.contains(.acceptEncoding)
        else { return nil }
        return headerFields[.range] == nil ? .known : .identity
    }
}
