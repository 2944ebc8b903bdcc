// SPDX-License-Identifier: Apache-2.0

public import HTTPTypes

extension SessionResponse {
    /// The header fields in the order in which they came.
    ///
    /// Lines without a token as name are left out; control bytes become spaces (RFC 9110 §5.5). Not stored.
    public var headerFields: HTTPFields {
        var fields = HTTPFields()
        forEachField { name, value in
            if let name = HTTPField.Name(String(decoding: name, as: UTF8.self)) {
                fields.append(HTTPField(name: name, lenientValue: value))
            }
        }
        return fields
    }

    /// The value of a field, several joined by a comma (RFC 9110 §5.3); nil where it did not come.
    public func value(forHeader name: String) -> String? {
        var joined: String?
        forEachField { candidate, value in
            guard candidate.equalsIgnoringCase(name.utf8) else { return }
            let text = String(decoding: value, as: UTF8.self)
            if let before = joined { joined = "\(before), \(text)" } else { joined = text }
        }
        return joined
    }

    /// The values of a field, one for each line of it, in the order in which they came.
    public func values(forHeader name: String) -> [String] {
        var values: [String] = []
        forEachField { candidate, value in
            if candidate.equalsIgnoringCase(name.utf8) {
                values.append(String(decoding: value, as: UTF8.self))
            }
        }
        return values
    }

    /// The media type without parameters, lower case: `application/json`; nil where none was sent.
    public var mimeType: String? {
        guard let field = value(forHeader: "content-type") else { return nil }
        let type = field.prefix { $0 != ";" && $0 != "," }.trimmingBlanks.lowercased()
        return type.isEmpty ? nil : type
    }

    /// The length of the content on the wire, as the server says; nil where it does not, or nonsense, and
    /// beside `Transfer-Encoding` (RFC 9112 §6.3).
    public var contentLength: Int64? {
        guard let text = value(forHeader: "content-length"), let length = Int64(text), length >= 0,
            value(forHeader: "transfer-encoding") == nil
        else { return nil }
        return length
    }

    /// The response in the common vocabulary of Swift's HTTP packages; nil where it is not from HTTP.
    public var httpResponse: HTTPResponse? {
        guard let statusCode, (100...999).contains(statusCode) else { return nil }
        return HTTPResponse(status: HTTPResponse.Status(code: statusCode), headerFields: headerFields)
    }

    /// Calls `body` with the name and the trimmed value of each field.
    func forEachField(_ body: (Slice<UnsafeRawBufferPointer>, Slice<UnsafeRawBufferPointer>) -> Void) {
        headerBlock.withUnsafeBytes { block in
            var start = 0
            while start < block.count {
                var end = start
                var colon = -1
                while end < block.count, block[end] != 0x0A {
                    if colon < 0, block[end] == 0x3A { colon = end }
                    end += 1
                }
                if colon > start {
                    body(Slice(base: block, bounds: start..<colon), block[(colon + 1)..<end].trimmingBlanks)
                }
                start = end + 1
            }
        }
    }
    /// The parameter `charset` of `Content-Type`, lower case; nil where there is none.
    public var charset: String? {
        guard let field = value(forHeader: "content-type") else { return nil }
        for parameter in field.split(separator: ";").dropFirst() {
            guard let equals = parameter.firstIndex(of: "="),
                parameter[..<equals].trimmingBlanks.lowercased() == "charset"
            else { continue }
            let value = parameter[parameter.index(after: equals)...].prefix { $0 != "," }.trimmingBlanks
            let name = value.drop { $0 == "\"" || $0 == "'" }.prefix { $0 != "\"" && $0 != "'" }
            return name.isEmpty ? nil : name.lowercased()
        }
        return nil
    }

    /// Whether something was done to the content, so that its bytes are not those of the file.
    package var isEncoded: Bool {
        values(forHeader: "content-encoding").contains { value in
            value.split(separator: ",").contains { !ContentCodings.isNone($0.trimmingBlanks.utf8) }
        }
    }
}

/// The codings that `Content-Encoding` names (RFC 9110 §8.4).
package enum ContentCodings {
    /// Whether a name means that nothing was done to the content: an empty one, `identity` (RFC 9110
    /// §12.5.3), and what some servers send though it is no coding: `none`, names of character sets and of
    /// MIME's transfer encodings (RFC 2045 §6.1), and the framing of an upload to S3.
    package static func isNone(_ name: some Collection<UInt8>) -> Bool {
        name.isEmpty || notCodings.contains { name.equalsIgnoringCase($0.utf8) }
    }

    private static let notCodings = [
        "identity", "none", "utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin1", "windows-1252",
        "binary", "8bit", "7bit", "aws-chunked",
    ]
}
