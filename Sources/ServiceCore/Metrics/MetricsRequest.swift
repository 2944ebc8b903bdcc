// SPDX-License-Identifier: Apache-2.0

/// A request to the metrics listener, and its response (the part of RFC 9112 that a scrape needs).
package enum MetricsRequest: Sendable, Equatable {
    /// The header is not complete yet.
    case incomplete
    /// GET or HEAD of /metrics.
    case metrics(isHead: Bool)
    /// Any other request, with the status of its response.
    case refused(status: Int, phrase: String)

    /// The most bytes of a header.
    package static let limit = 8192

    /// Parses the bytes received so far.
    package init(_ bytes: [UInt8]) {
        guard let end = Self.endOfHeader(bytes) else {
            self =
                bytes.count >= Self.limit
                ? .refused(status: 431, phrase: "Request Header Fields Too Large") : .incomplete
            return
        }
        var lines = Self.lines(bytes[..<end])
        let words = lines.removeFirst().split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0",
            Self.areProper(lines, needsHost: words[2] == "HTTP/1.1"), let target = Self.path(words[1])
        else {
            self = .refused(status: 400, phrase: "Bad Request")
            return
        }
        let path = target.prefix { $0 != "?" }
        switch (words[0], path) {
        case ("GET", "/metrics"): self = .metrics(isHead: false)
        case ("HEAD", "/metrics"): self = .metrics(isHead: true)
        case (_, "/metrics"): self = .refused(status: 405, phrase: "Method Not Allowed")
        default: self = .refused(status: 404, phrase: "Not Found")
        }
    }

    private static func lines(_ header: ArraySlice<UInt8>) -> [String] {
        let lines = header.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
        }
        // The header ends with an empty line, which is not part of it.
        return lines.last?.isEmpty == true && lines.count > 1 ? Array(lines.dropLast()) : lines
    }

    /// Whether the field lines are valid: a name directly followed by a colon (RFC 9112 §5.1), no folded
    /// lines (§5.2), and exactly one Host in HTTP/1.1 (§3.2).
    private static func areProper(_ lines: [String], needsHost: Bool) -> Bool {
        var hosts = 0
        for line in lines {
            guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
            let name = line[..<colon]
            guard !name.isEmpty, name.utf8.allSatisfy(isTokenByte) else { return false }
            guard name.lowercased() == "host" else { continue }
            hosts += 1
            let value = line[line.index(after: colon)...].utf8.filter { $0 != 0x20 && $0 != 0x09 }
            // Characters that an authority cannot have (RFC 3986 §3.2).
            guard value.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !"/?#@,".utf8.contains($0) })
            else { return false }
        }
        return hosts == 1 || hosts == 0 && !needsHost
    }

    /// RFC 9110 §5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
            || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    /// The path and query of a request's target, in origin form or in absolute form, which every server
    /// accepts (RFC 9112 §3.2.2).
    private static func path(_ target: Substring) -> Substring? {
        if target.utf8.first == UInt8(ascii: "/") || target == "*" { return target }
        guard let scheme = ["http://", "https://"].first(where: { target.lowercased().hasPrefix($0) })
        else { return nil }
        let rest = target.dropFirst(scheme.count)
        guard let end = rest.firstIndex(where: { $0 == "/" || $0 == "?" || $0 == "#" }) else {
            return rest.isEmpty ? nil : "/"
        }
        guard end > rest.startIndex else { return nil }
        return rest[end] == "/" ? rest[end...] : "/" + rest[end...]
    }

    // A line feed alone also ends a line (RFC 9112 §2.2).
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

    /// The response, after which the connection is closed.
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
