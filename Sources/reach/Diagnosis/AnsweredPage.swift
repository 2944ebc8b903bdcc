// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// A web page in an answer, judged by its beginning: a captive portal answers every request with one.
struct AnsweredPage: Sendable, Equatable {
    /// The title, which is untrusted text; may be empty.
    private(set) var title = ""
    /// The target of an automatic redirect (`<meta http-equiv="refresh">`); nil without one.
    private(set) var refresh: String?
    /// Whether the page declares itself a network's sign-in page (WISPr, which is made for programs).
    private(set) var isGateway = false

    /// Nil if the content is no web page.
    init?(_ content: Data, type: String?) {
        let bytes = Bytes(content)
        let isNamed = type.map { $0.lowercased().contains("html") } == true
        guard isNamed || bytes.begins(with: ["<!doctype html", "<html"]) else { return nil }
        if let from = bytes.find("<title"), let begin = bytes.find(">", from: from),
            let end = bytes.find("</title", from: begin)
        {
            title = bytes.text(begin + 1..<end)
        }
        isGateway = bytes.find("<wispaccessgatewayparam") != nil
        refresh = bytes.refresh
    }

    /// A page's content, searched without regard to case.
    private struct Bytes {
        private let bytes: [UInt8]
        private let lower: [UInt8]

        init(_ content: Data) {
            bytes = Array(content)
            lower = bytes.map { (65...90).contains($0) ? $0 + 32 : $0 }
        }

        func begins(with words: [String]) -> Bool {
            let start = lower.drop { $0 <= 0x20 }
            return words.contains { start.starts(with: $0.utf8) }
        }

        func find(_ word: String, from start: Int = 0) -> Int? {
            let word = Array(word.utf8)
            guard start <= lower.count - word.count else { return nil }
            return (start...lower.count - word.count).first { index in
                lower[index] == word[0] && lower[index..<index + word.count].elementsEqual(word)
            }
        }

        /// The text as one line, cut off at a length that fits.
        func text(_ range: Range<Int>) -> String {
            let words = String(decoding: bytes[range], as: UTF8.self).split { $0.isWhitespace }
            let line = words.joined(separator: " ")
            return line.count > 60 ? "\(line.prefix(60))…" : line
        }

        /// The target in `<meta http-equiv="refresh" content="0; url=http://…">`, in any order of attributes.
        var refresh: String? {
            var index = 0
            while let begin = find("<meta", from: index), let end = find(">", from: begin) {
                index = end
                let tag = begin..<end
                guard let kind = find("refresh", from: begin), tag.contains(kind),
                    let url = find("url=", from: begin), tag.contains(url)
                else { continue }
                let rest = bytes[(url + 4)..<end].drop { $0 == 0x22 || $0 == 0x27 || $0 == 0x20 }
                let target = rest.prefix { $0 != 0x22 && $0 != 0x27 && $0 != 0x20 }
                return String(decoding: target, as: UTF8.self)
            }
            return nil
        }
    }
}
