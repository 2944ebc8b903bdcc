// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ServiceCore
import SessionManager
import Testing

@testable import reach

/// The text of `reach get` for people: at the end, and while it waits.
struct GetViewTests {
    private static let url =
        URL(string: "https://updates.example.com/images/device-2026.11.23-aarch64.img.xz")
        ?? URL(filePath: "/")

    private static var reports: [GetReport] {
        var saved = GetReport(url: url)
        (saved.bytes, saved.elapsed) = (12_345_678, .milliseconds(3_400))
        saved.file = "/var/lib/device/images/device-2026.11.23-aarch64.img.xz"
        var resumed = GetReport(url: url, expected: [1])
        (resumed.bytes, resumed.size, resumed.resumedAt) = (7_000_000, 12_345_678, 5_345_678)
        (resumed.elapsed, resumed.file) = (.seconds(125), "image.xz")
        var complete = GetReport(url: url, expected: [1])
        (complete.wasComplete, complete.file) = (true, "image.xz")
        var broken = GetReport(url: url)
        broken.fail(
            SessionError(
                .networkConnectionLost, "the connection to updates.example.com broke",
                advice: "try again"))
        broken.recordPart(5_345_678, of: 12_345_678, in: "image.xz.part")
        var wrong = GetReport(url: url, expected: [1])
        wrong.fail(
            SessionError(
                .checksumMismatch,
                "the content has the SHA-256 \(String(repeating: "0a", count: 32)) instead of \(String(repeating: "f0", count: 32))",
                advice: "check where the checksum is from; nothing was saved"))
        return [saved, resumed, complete, broken, wrong]
    }

    private static let waits: [(reason: HoldReason, progress: TransferProgress.Snapshot?)] = [
        (.network("eth0: no carrier"), .init(completedBytes: 43, totalBytes: 100)),
        (.network("eth0: no carrier"), .init(completedBytes: 43, totalBytes: nil)),
        (
            .network("eth0: no carrier, but the kernel still prefers it; wlan0 has a path of its own"),
            .init(completedBytes: 43, totalBytes: 100)
        ),
        (.network("wg0 \u{1B}[2J → café"), nil), (.network(""), nil), (.internet, nil),
        (.settling, .init(completedBytes: 99, totalBytes: 100)),
        (.network(String(repeating: "\u{5B57}", count: 50)), .init(completedBytes: 1, totalBytes: 2)),
    ]

    @Test(
        "each end in each style",
        arguments: [
            ("80", Style(width: 80)), ("40", Style(width: 40)), ("piped", Style()),
            ("dumb", Style(isUnicode: false, hasMarks: false, width: 80)),
        ])
    func ends(name: String, style: Style) throws {
        var text = ""
        for report in Self.reports {
            text +=
                report.failure.map { style.sentence(report.sentence(of: $0), after: "reach: ") }
                ?? style.sentence(report.sentence)
            text += "\n"
        }
        try Golden.check(text, "get-\(name).txt")
    }

    @Test("what it waits for, on one line that is drawn over", arguments: [80, 40, 20])
    func waiting(columns: Int) throws {
        var text = ""
        for isUnicode in [true, false] {
            for wait in Self.waits {
                let line = WaitingText(wait.reason, wait.progress, isUnicode: isUnicode).line(
                    columns: columns)
                #expect(SafeText.width(line) < columns && !line.isEmpty, "\(line)")
                text += line + "\n"
            }
        }
        try Golden.check(text, "get-waiting-\(columns).txt")
    }

    @Test("no line is broken between a number and its unit")
    func units() {
        let text = "a 12.3 MB, (43 %) b 3 s; 2 min 5 s c 100 links -52 dBm) 7 x"
        for width in 20...40 {
            let style = Style(width: width)
            for lines in [
                style.line([(text, .plain)], indent: 0).split(separator: "\n").map(String.init),
                style.wrap(text, indent: 0),
            ] {
                #expect(lines.joined(separator: " ") == text)
                for line in lines {
                    #expect(
                        !["12.3", "(43", "3", "2", "5", "-52"].contains(line.split(separator: " ").last ?? "")
                    )
                    #expect(line.utf8.allSatisfy { $0 < 0x80 })
                }
            }
        }
        #expect(Style(width: 20).line([("1 ", .plain), ("s", .bad)], indent: 0) == "1 s")
    }

    @Test("what it waits for, as a line of a log: all of it")
    func waitingPlain() throws {
        let text = Self.waits.map { WaitingText($0.reason, $0.progress, isUnicode: true).text + "\n" }
            .joined()
        try Golden.check(text, "get-waiting-plain.txt")
    }
}
