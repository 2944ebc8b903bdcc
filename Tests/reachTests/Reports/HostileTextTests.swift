// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore
import Testing

@testable import reach

/// Untrusted names (of Wi-Fi networks, interfaces, hosts) on a terminal and in a log.
@Suite("Hostile names")
struct HostileTextTests {
    private static let names: [String] = {
        var names = [
            "\u{1B}]0;owned\u{7}", "a\nwired  eth0 192.0.2.2", "a\r\nb", "\u{9B}2J", "\u{202E}gpj.exe",
            "\u{2028}\u{2029}", "tab\there", "\0", "home\", gateway none → 6.6.6.6, network \"x", "\\\"\\",
            "\u{E0041}\u{200B}\u{FEFF}", String(repeating: "\u{1B}", count: 32), "   ", "",
        ]
        // Thirty-two bytes as received over the air: invalid UTF-8 is replaced when they are read.
        var number: UInt32 = 1
        func byte() -> UInt8 {
            number = number &* 1_664_525 &+ 1_013_904_223
            return UInt8(number >> 24)
        }
        for _ in 0..<200 { names.append(String(decoding: (0..<32).map { _ in byte() }, as: UTF8.self)) }
        return names
    }()

    private static let styles = [
        Style(), Style(isUnicode: false), Style(width: 40), Style(hasColor: true),
        Style(hasColor: true, isUnicode: false, width: 30),
    ]

    /// The lines of watch for a path with hostile names, and for its loss.
    private func lines(_ name: String, _ style: Style) -> [String] {
        var log = ChangeLog(lossGrace: .milliseconds(500)) { _ in false }
        let calm = CannedReports.wired.path
        var hostile = CannedReports.hostileWiFi.path
        hostile.ssid = name
        hostile.interface = name
        hostile.underlay = name
        hostile.reason = ReachabilityReason(.defaultRoute, interface: name, sentence: "route on \(name)")
        var lost = ReachabilityPath()
        lost.instantStatus = .unreachable
        lost.reason = ReachabilityReason(.linkDown, interface: name, sentence: "\(name): no carrier")
        let story: [(ReachabilityUpdate.Event, ReachabilityStatus, ReachabilityPath)] = [
            (.path, .wifi, calm), (.path, .wifi, hostile), (.path, .wifi, lost),
            (.status, .unreachable, lost),
            (.path, .unreachable, hostile), (.status, .wifi, hostile), (.path, .wifi, calm),
        ]
        return story.map { event, status, path in
            let update = ReachabilityUpdate(event: event, status: status, previous: .wifi, path: path)
            return log.line(Report(update, since: nil, host: name), time: "12:03:04.123", style)
        }
    }

    /// The text without this program's own colours: ESC, `[`, one or two digits, `m`.
    private func colourless(_ text: String) -> String {
        // By scalars: a mark that combines makes one character of the `m` before it.
        var rest = Array(text.unicodeScalars)[...]
        var result = String.UnicodeScalarView()
        while let first = rest.popFirst() {
            guard first == "\u{1B}", rest.first == "[" else {
                result.append(first)
                continue
            }
            let code = rest.dropFirst().prefix { ("0"..."9").contains($0) }
            guard (1...2).contains(code.count), rest.dropFirst(1 + code.count).first == "m" else {
                return text
            }
            rest = rest.dropFirst(code.count + 2)
        }
        return String(result)
    }

    @Test("a change is one line, whatever names are in it, and nothing in it steers the terminal")
    func watch() {
        for style in Self.styles {
            for name in Self.names {
                for line in lines(name, style) {
                    let plain = colourless(line)
                    #expect(
                        !plain.unicodeScalars.contains { $0 != "\n" && SafeText.steers($0.value) }, "\(name)")
                    if style.width == nil { #expect(!plain.contains("\n"), "\(name.debugDescription)") }
                    // Continuation lines are indented, so no name begins a line of its own.
                    for part in plain.split(separator: "\n").dropFirst() { #expect(part.hasPrefix("    ")) }
                }
            }
        }
    }

    @Test("the name of a network stays in its quotation marks")
    func quoted() {
        #expect(SafeText.quoted("home") == #""home""#)
        #expect(SafeText.quoted(#"x", gateway "y\"#) == #""x\", gateway \"y\\""#)
        let line = lines("x\", source none → 6.6.6.6", Style())[1]
        #expect(line.contains(#"network none → "x\", source none → 6.6.6.6""#))
    }

    @Test("the whole view of status shows no more of it than a line of watch")
    func status() {
        for style in Self.styles where !style.hasColor {
            for name in Self.names {
                var report = CannedReports.hostileWiFi
                report.path.ssid = name
                report.path.interface = name
                let link = report.links[0]
                report.links[0] = LinkReport(
                    name: name, index: link.index, medium: link.medium, isOnline: link.isOnline,
                    reason: ReachabilityReason(.linkDown, sentence: "\(name): no carrier"),
                    addresses: link.addresses, gateway: link.gateway, metric: link.metric)
                let calm = StatusView.text(CannedReports.hostileWiFi, style).split(separator: "\n").count
                let text = StatusView.text(report, style)
                #expect(!text.unicodeScalars.contains { $0 != "\n" && SafeText.steers($0.value) })
                if style.width == nil { #expect(text.split(separator: "\n").count == calm) }
            }
        }
    }
}
