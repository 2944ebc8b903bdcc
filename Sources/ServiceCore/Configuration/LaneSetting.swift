// SPDX-License-Identifier: Apache-2.0

/// An option's text about a lane of the outbox: `LANE=WORD KEY:VALUE …`.
///
/// In names and values `%20` and the like stand for bytes that would end them.
private struct LaneWords {
    let lane: String
    /// With nil for a word without a value.
    let words: [(key: String, value: String?)]

    init?(_ text: String) {
        guard let sign = text.firstIndex(of: "="), let lane = Self.decoded(text[..<sign]), !lane.isEmpty
        else {
            return nil
        }
        var words: [(key: String, value: String?)] = []
        for word in text[text.index(after: sign)...].split(separator: " ") {
            let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else {
                words.append((String(word), nil))
                continue
            }
            guard let value = Self.decoded(parts[1]) else { return nil }
            words.append((String(parts[0]), value))
        }
        guard !words.isEmpty, Set(words.map { $0.key }).count == words.count else { return nil }
        (self.lane, self.words) = (lane, words)
    }

    /// nil for text that is not percent-encoded properly (RFC 3986 §2.1).
    private static func decoded(_ text: Substring) -> String? {
        var (bytes, rest): ([UInt8], Substring.UTF8View.SubSequence) = ([], text.utf8[...])
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// How a lane joins its requests: `samples=array count:500 age:10s gzip`.
package struct BatchSetting: Sendable, Equatable {
    package enum Form: Sendable, Equatable {
        case array
        case lines
        case template(prefix: String, separator: String, suffix: String)
    }

    package let lane: String
    package private(set) var form = Form.array
    /// nil for the outbox's own limits.
    package private(set) var count: Int?
    package private(set) var bytes: Int64?
    package private(set) var age: Duration?
    /// `gzip` or `deflate`; nil for none.
    package private(set) var compression: String?
    /// A media type; nil for that of the form.
    package private(set) var contentType: String?

    package init?(_ text: String) {
        guard let words = LaneWords(text) else { return nil }
        lane = words.lane
        var parts: [String: String] = [:]
        var hasForm = false
        for (key, value) in words.words {
            switch (key, value) {
            case ("array", nil), ("lines", nil), ("template", nil):
                guard !hasForm else { return nil }
                hasForm = true
                form =
                    key == "array"
                    ? .array : key == "lines" ? .lines : .template(prefix: "", separator: "", suffix: "")
            case ("gzip", nil), ("deflate", nil):
                guard compression == nil else { return nil }
                compression = key
            case ("count", let value?):
                guard let number = Int(value), (1...10_000).contains(number) else { return nil }
                count = number
            case ("bytes", let value?):
                guard let number = Int64(value), (1...(1 << 30)).contains(number) else { return nil }
                bytes = number
            case ("age", let value?):
                guard let duration = DurationText.duration(value) else { return nil }
                age = duration
            case ("type", let value?): contentType = value
            case ("prefix", let value?), ("separator", let value?), ("suffix", let value?): parts[key] = value
            default: return nil
            }
        }
        guard hasForm else { return nil }
        if case .template = form {
            form = .template(
                prefix: parts["prefix"] ?? "", separator: parts["separator"] ?? "",
                suffix: parts["suffix"] ?? "")
        } else if !parts.isEmpty {
            return nil
        }
    }

    /// For messages.
    package static let allowed =
        "a list of texts such as [\"samples=array count:500 bytes:262144 age:10s gzip\"], each with array, lines or template"
}

/// What a lane may send over expensive paths in a day: `samples=bytes:5000000 requests:1000`.
package struct BudgetSetting: Sendable, Equatable {
    package let lane: String
    package private(set) var bytes: Int64?
    package private(set) var requests: Int?

    package init?(_ text: String) {
        guard let words = LaneWords(text) else { return nil }
        lane = words.lane
        for (key, value) in words.words {
            guard let value, let number = Int64(value), (0...(1 << 50)).contains(number) else { return nil }
            switch key {
            case "bytes": bytes = number
            case "requests": requests = Int(clamping: number)
            default: return nil
            }
        }
    }

    /// For messages.
    package static let allowed =
        "a list of texts such as [\"samples=bytes:5000000 requests:1000\"], each with bytes, requests or both"
}
