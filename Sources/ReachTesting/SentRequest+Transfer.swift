// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager

extension SentRequest {
    /// What libcurl would send for a transfer over HTTP/1.1 (CURLOPT_HTTPHEADER(3)).
    init(_ transfer: Transfer, body: Data, attempt: Int, cookies: String?) {
        let request = transfer.request
        self.init(
            method: request.method, url: request.url.withoutFragment,
            headerFields: Self.fields(of: transfer, cookies), body: body, attempt: attempt,
            taskIdentifier: transfer.task?.identifier ?? 0)
    }

    private static func fields(of transfer: Transfer, _ cookies: String?) -> HTTPFields {
        var fields = HTTPFields()
        var omitted: Set<String> = []
        for line in transfer.headerLines {
            if line.hasSuffix(";"), !line.contains(":") {
                append("", to: &fields, named: String(line.dropLast()))
                continue
            }
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
            if value.isEmpty {
                omitted.insert(parts[0].lowercased())
            } else {
                append(String(value), to: &fields, named: String(parts[0]))
            }
        }
        let url = transfer.request.url
        var own = [("Host", url.hostAndPort), ("Accept", "*/*")]
        if let authentication = transfer.libraryAuthentication {
            // The proof is libcurl's, and missing here.
            own.append(
                (
                    authentication.isProxy ? "Proxy-Authorization" : "Authorization",
                    "\(authentication.scheme) username=\"\(authentication.user)\""
                ))
        } else if let user = url.user(percentEncoded: false) {
            let password = url.password(percentEncoded: false) ?? ""
            own.append(("Authorization", "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()))
        }
        if transfer.request.body != nil {
            let length = transfer.announcedBodyLength.map(String.init)
            own.append(length.map { ("Content-Length", $0) } ?? ("Transfer-Encoding", "chunked"))
        }
        for (name, value) in own where !omitted.contains(name.lowercased()) {
            if let name = HTTPField.Name(name), fields[name] == nil { fields[name] = value }
        }
        if let cookies { append(cookies, to: &fields, named: "Cookie") }
        return fields
    }

    private static func append(_ value: String, to fields: inout HTTPFields, named name: String) {
        if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
    }
}

extension URL {
    /// Without what is never sent (RFC 9110 §4.2.5).
    var withoutFragment: URL {
        let text = absoluteString
        guard let sign = text.firstIndex(of: "#") else { return self }
        return URL(string: String(text[..<sign])) ?? self
    }

    /// The value of `Host` (RFC 9110 §7.2).
    fileprivate var hostAndPort: String {
        if SocketURL(absoluteString) != nil { return "localhost" }
        let name = host(percentEncoded: true) ?? ""
        let host = name.contains(":") ? "[\(name)]" : name
        return port.map { "\(host):\($0)" } ?? host
    }
}
