// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes

/// The part of a file that a request asks for.
extension Answer {
    /// The answer to a request: a part, the whole, or that nothing has changed, where it is a file's.
    func resolved(for request: SentRequest) -> Answer {
        guard let file else { return self }
        var answer = self
        answer.file = nil
        let etag = fields.last { $0.name == "ETag" }?.value ?? ""
        if let known = request.value(forHeader: "if-none-match"), known == "*" || known.contains(etag) {
            answer.status = 304
            return answer
        }
        guard request.method == .get, let range = request.value(forHeader: "range"),
            request.value(forHeader: "if-range").map({ $0 == etag }) ?? true
        else { return answer.with(file) }
        guard let part = Self.part(range, of: file.count) else { return answer.with(file) }
        guard !part.isEmpty else {
            answer.status = 416
            return answer.header("Content-Range", "bytes */\(file.count)")
        }
        answer.status = 206
        let start = file.startIndex
        return
            answer
            .header("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(file.count)")
            .with(file[(start + part.lowerBound)..<(start + part.upperBound)])
    }

    private func with(_ content: Data) -> Answer {
        var answer = self
        answer.steps.append(.content(Data(content)))
        return answer
    }

    /// The bytes that one range names (RFC 9110 §14.1.2); empty where there are none of them, nil where it is
    /// no range of one part, which a server may ignore.
    private static func part(_ range: String, of count: Int) -> Range<Int>? {
        guard range.hasPrefix("bytes="), !range.contains(",") else { return nil }
        let ends = range.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty {
            guard let last = Int(ends[1]), last >= 0 else { return nil }
            return max(0, count - last)..<count
        }
        guard let first = Int(ends[0]), first >= 0 else { return nil }
        guard first < count else { return 0..<0 }
        if ends[1].isEmpty { return first..<count }
        guard let last = Int(ends[1]), last >= first else { return nil }
        return first..<min(last + 1, count)
    }
}

/// The head of an answer, as bytes on the wire.
extension Answer {
    /// The length of the content, where it is known beforehand.
    private var length: Int64? {
        var sum: Int64 = 0
        for case .content(let data) in steps { sum += Int64(data.count) }
        return has("transfer-encoding") ? nil : sum
    }

    /// Whether content follows the head (RFC 9110 §6.4.1).
    func hasContent(for method: HTTPRequest.Method) -> Bool {
        method != .head && status != 204 && status != 304
    }

    /// First line and fields; `Content-Length` is added where the content is whole.
    func head() -> Data {
        let line = version == .http1_0 || version == .http1_1 ? " \(ReasonPhrases.text(status))" : " "
        var text = "\(version.rawValue) \(status)\(line)\r\n"
        for (name, value) in fields { text += "\(name): \(Self.oneLine(value))\r\n" }
        if !has("content-length"), status != 204, status != 304, let length {
            text += "Content-Length: \(length)\r\n"
        }
        return Data((text + "\r\n").utf8)
    }

    private static func oneLine(_ value: String) -> String {
        String(String.UnicodeScalarView(value.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
    }
}

/// The words behind a status that tests answer mostly; they mean nothing (RFC 9112 §4).
private enum ReasonPhrases {
    static func text(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 204: "No Content"
        case 206: "Partial Content"
        case 302: "Found"
        case 304: "Not Modified"
        case 401: "Unauthorized"
        case 404: "Not Found"
        case 503: "Service Unavailable"
        default: ""
        }
    }
}
