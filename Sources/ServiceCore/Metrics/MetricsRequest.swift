// SPDX-License-Identifier: Apache-2.0

/// What somebody asks the metrics' listener, and the answer (RFC 9112, the part of it that a scrape needs).
package enum MetricsRequest: Sendable, Equatable {
    /// The header is not complete yet.
    case incomplete
    /// GET or HEAD of /metrics.
    case metrics(isHead: Bool)
    /// Everything else: the status to answer with.
    case refused(status: Int, phrase: String)

    /// The header may have so many bytes.
    package static let limit = 8192

    /// Reads what has come so far.
    package init(_ bytes: [UInt8]) {
        guard let end = Self.endOfHeader(bytes) else {
            self =
                bytes.count >= Self.limit
                ? .refused(status: 431, phrase: "Request Header Fields Too Large") : .incomplete
            return
        }
        let line = bytes[..<end].prefix { $0 != 0x0A && $0 != 0x0D }
        let words = String(decoding: line, as: UTF8.self).split(
            separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else {
            self = .refused(status: 400, phrase: "Bad Request")
            return
        }
        let path = words[1].prefix { $0 != "?" }
        switch (words[0], path) {
        case ("GET", "/metrics"): self = .metrics(isHead: false)
        case ("HEAD", "/metrics"): self = .metrics(isHead: true)
        case (_, "/metrics"): self = .refused(status: 405, phrase: "Method Not Allowed")
        default: self = .refused(status: 404, phrase: "Not Found")
        }
    }

    // A line feed alone ends a line as well (RFC 9112 §2.2).
    private static func endOfHeader(_ bytes: [UInt8]) -> Int? {
        var isLineEmpty = false
        for (index, byte) in bytes.prefix(limit).enumerated() {
            switch byte {
            case 0x0A where isLineEmpty: return index
            case 0x0A: isLineEmpty = true
            case 0x0D: break
            default: isLineEmpty = false
            }
        }
        return nil
    }

    /// The answer, after which the connection is closed.
    package func response(_ metrics: () -> [UInt8]) -> [UInt8] {
        switch self {
        case .incomplete: return Self.response(408, "Request Timeout", "", [], isHead: false)
        case .metrics(let isHead):
            return Self.response(
                200, "OK", "text/plain; version=0.0.4; charset=utf-8", metrics(), isHead: isHead)
        case .refused(let status, let phrase):
            return Self.response(
                status, phrase, "text/plain; charset=utf-8", Array("\(phrase); there is /metrics\n".utf8),
                isHead: false)
        }
    }

    private static func response(
        _ status: Int, _ phrase: String, _ type: String, _ content: [UInt8], isHead: Bool
    ) -> [UInt8] {
        var head = "HTTP/1.1 \(status) \(phrase)\r\nConnection: close\r\nContent-Length: \(content.count)\r\n"
        if !type.isEmpty { head += "Content-Type: \(type)\r\n" }
        if status == 405 { head += "Allow: GET, HEAD\r\n" }
        return Array((head + "\r\n").utf8) + (isHead ? [] : content)
    }
}
