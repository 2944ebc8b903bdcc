// SPDX-License-Identifier: Apache-2.0

import ServiceCore
import SessionManager

/// The reason why a transfer waits: "waiting for network (eth0: no carrier), 43 % done".
struct WaitingText: Sendable, Equatable {
    private let head: String
    /// The reason; may be empty.
    private let sentence: String
    private let tail: String
    private let isUnicode: Bool

    init(_ reason: HoldReason, _ progress: TransferProgress.Snapshot?, isUnicode: Bool) {
        func clean(_ text: String) -> String { SafeText.clean(text, unicode: isUnicode) }
        self.isUnicode = isUnicode
        switch reason {
        case .network(let why):
            head = clean("\(HoldReason.network(""))")
            sentence = clean(why)
        default:
            head = clean("\(reason)")
            sentence = ""
        }
        tail =
            progress.flatMap { progress in
                progress.totalBytes.map { _ in ", \(Int(progress.fractionCompleted * 100)) % done" }
            } ?? ""
    }

    /// The full text.
    var text: String { (sentence.isEmpty ? head : "\(head) (\(sentence))") + tail }

    /// The text shortened to one line, one column narrower than the terminal: without "for network" first,
    /// then without the sentence's last words.
    func line(columns: Int) -> String {
        let room = max(1, columns - 1)
        return shorter.first { SafeText.width($0) <= room } ?? String(Self.word.prefix(room))
    }

    /// The shortened texts, the longest first.
    private var shorter: [String] {
        var texts = [text]
        let words = sentence.split(separator: " ")
        if !words.isEmpty { texts.append("\(Self.word) (\(sentence))\(tail)") }
        for count in (0..<words.count).reversed() where count > 0 {
            // No comma or colon before the dots.
            let part = words[..<count].joined(separator: " ")
            let end = part.last.map { ",;:".contains($0) } == true ? part.dropLast() : part[...]
            texts.append("\(Self.word) (\(end)\(isUnicode ? "…" : "..."))\(tail)")
        }
        return texts + [head + tail, Self.word + tail, Self.word]
    }

    private static let word = "waiting"
}
