// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore
import Testing

@testable import reach

@Suite("The view for people")
struct StatusViewTests {
    private static let styles: [(name: String, style: Style)] = [
        ("80", Style(width: 80)),
        ("80-color", Style(hasColor: true, width: 80)),
        ("40", Style(width: 40)),
        ("piped", Style()),
        ("ascii", Style(isUnicode: false, width: 80)),
        ("dumb", Style(hasMarks: false, width: 80)),
    ]
    private static let reports: [(name: String, report: Report)] = [
        ("wired", CannedReports.wired), ("hostile-wifi", CannedReports.hostileWiFi),
        ("rescue", CannedReports.rescue), ("sixty-links", CannedReports.sixtyLinks),
        ("unknown", CannedReports.unknown), ("dead-tunnel", CannedReports.deadTunnel),
        ("no-such-name", CannedReports.noSuchName),
    ]

    @Test("each situation in each style", arguments: reports.map(\.name), styles.map(\.name))
    func golden(report: String, style: String) throws {
        let report = try #require(Self.reports.first { $0.name == report })
        let style = try #require(Self.styles.first { $0.name == style })
        try Golden.check(
            StatusView.text(report.report, style.style), "status-\(report.name)-\(style.name).txt")
    }

    @Test("--all and --explain")
    func more() throws {
        try Golden.check(
            StatusView.text(CannedReports.sixtyLinks, Style(), showsAll: true), "status-sixty-links-all.txt")
        var report = CannedReports.wired
        report.steps = CannedReports.steps
        try Golden.check(StatusView.text(report, Style(width: 80)), "status-wired-explain.txt")
        try Golden.check(
            StatusView.text(report, Style(hasMarks: false, width: 80)), "status-wired-explain-dumb.txt")
    }

    @Test("no line is wider than the terminal", arguments: reports.map(\.name), [40, 60, 80, 120])
    func fits(report: String, width: Int) throws {
        let report = try #require(Self.reports.first { $0.name == report })
        for line in StatusView.text(report.report, Style(width: width)).split(separator: "\n") {
            #expect(SafeText.width(String(line)) <= width, "\(line)")
        }
    }

    @Test("nothing from outside steers the terminal", arguments: reports.map(\.name))
    func isSafe(report: String) throws {
        let report = try #require(Self.reports.first { $0.name == report })
        for isUnicode in [true, false] {
            let text = StatusView.text(report.report, Style(isUnicode: isUnicode), showsAll: true)
            #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || !SafeText.steers($0.value) })
            if !isUnicode { #expect(text.utf8.allSatisfy { $0 < 0x7F }) }
        }
    }

    @Test("the unmet view of wait")
    func unmet() throws {
        var text = ""
        for goal in WaitCondition.Goal.allCases {
            text += UnmetView.text(
                CannedReports.rescue, WaitCondition(goal: goal), stable: .zero, waited: .seconds(30),
                Style(width: 80))
        }
        text += UnmetView.text(
            CannedReports.sixtyLinks, WaitCondition(goal: .reachable, interfaces: ["eth0"]),
            stable: .milliseconds(1500), waited: .milliseconds(300), Style())
        text += UnmetView.text(
            CannedReports.sixtyLinks, WaitCondition(goal: .reachable), stable: .zero, waited: .seconds(5),
            Style())
        text += UnmetView.text(
            CannedReports.wired, WaitCondition(goal: .wifi, interfaces: ["wlan7"]), stable: .zero,
            waited: .seconds(5),
            Style())
        var waiting = CannedReports.wired
        waiting.status = .unreachable
        for report in [waiting, CannedReports.wired, CannedReports.noSuchName] {
            text += UnmetView.text(
                report, WaitCondition(goal: .wifi), stable: .zero, waited: .seconds(2), Style())
        }
        text += UnmetView.text(
            CannedReports.hostileWiFi, WaitCondition(goal: .wired), stable: .zero, waited: .seconds(2),
            Style())
        try Golden.check(text, "wait-unmet.txt")
    }

    @Test("the unmet view of wait in a narrow terminal, with one link and with sixty", arguments: [40, 80])
    func narrowUnmet(width: Int) throws {
        let text = [CannedReports.wired, CannedReports.sixtyLinks].map {
            UnmetView.text(
                $0, WaitCondition(goal: .wifi), stable: .zero, waited: .seconds(30), Style(width: width))
        }.joined()
        try Golden.check(text, "wait-unmet-\(width).txt")
        for line in text.split(separator: "\n") {
            #expect(SafeText.width(String(line)) <= width, "\(line)")
        }
    }

    @Test("wait lists the links in the order of status")
    func orderOfLinks() {
        func names(_ text: some StringProtocol) -> [Substring] {
            text.split(separator: "\n").compactMap { $0.split(separator: " ").first.map { Substring($0) } }
        }
        let never = WaitCondition(goal: .unreachable)
        for report in [CannedReports.rescue, CannedReports.hostileWiFi, CannedReports.sixtyLinks] {
            let unmet = UnmetView.text(report, never, stable: .zero, waited: .zero, Style())
            let lines = unmet.drop { $0 != "\n" }
            #expect(names(lines) == names(LinkTable(report, showsAll: false).text(Style())))
        }
    }

    @Test("the name of the host is said once")
    func hostOnce() {
        var report = CannedReports.noSuchName
        #expect(Headline(report).text == "Name or service not known")
        report.path.reason = ReachabilityReason(
            .unresolved, interface: "eth0", sentence: "cannot resolve nothing.invalid: eth0: no carrier")
        #expect(Headline(report).text == "cannot resolve it: eth0: no carrier")
    }
}

@Suite("Widths and safe text")
struct SafeTextTests {
    @Test(
        "columns",
        arguments: [("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("🛰", 2), ("→", 1), ("", 0)])
    func width(text: String, columns: Int) { #expect(SafeText.width(text) == columns) }

    @Test("replacement")
    func clean() {
        #expect(SafeText.clean("a\u{1B}[2Jb", unicode: true) == "a\u{FFFD}[2Jb")
        #expect(SafeText.clean("a → b – ü", unicode: false) == "a -> b - ?")
        #expect(SafeText.clean("a\r\nb\u{202E}", unicode: true) == "a\u{FFFD}\u{FFFD}b\u{FFFD}")
        #expect(SafeText.clean("日本 ü", unicode: true) == "日本 ü")
    }
}

@Suite("Colour and width are decided in one place")
struct TerminalTests {
    private func style(
        _ choice: Terminal.ColorChoice, terminal: Bool, _ environment: [String: String]
    ) -> Style {
        Terminal(isTerminal: terminal, columns: 100, environment: environment).style(choice)
    }

    @Test(
        "colour",
        arguments: [
            (.auto, true, [:], true), (.auto, false, [:], false), (.always, false, [:], true),
            (.never, true, ["CLICOLOR_FORCE": "1"], false), (.auto, true, ["NO_COLOR": "1"], false),
            (.auto, true, ["NO_COLOR": ""], true), (.auto, true, ["TERM": "dumb"], false),
            (.auto, false, ["CLICOLOR_FORCE": "1"], true), (.auto, false, ["CLICOLOR_FORCE": "0"], false),
            (.auto, true, ["NO_COLOR": "1", "CLICOLOR_FORCE": "1"], false),
            (.always, true, ["NO_COLOR": "1", "TERM": "dumb"], true),
        ] as [(Terminal.ColorChoice, Bool, [String: String], Bool)])
    func color(choice: Terminal.ColorChoice, terminal: Bool, environment: [String: String], expected: Bool) {
        #expect(style(choice, terminal: terminal, environment).hasColor == expected)
    }

    @Test("words in place of marks where TERM says that it only prints, also in a pipe")
    func marks() {
        #expect(style(.auto, terminal: true, ["TERM": "xterm"]).hasMarks)
        #expect(style(.auto, terminal: false, [:]).hasMarks)
        #expect(!style(.auto, terminal: true, ["TERM": "dumb"]).hasMarks)
        #expect(!style(.always, terminal: false, ["TERM": "dumb"]).hasMarks)
    }

    @Test("more than ASCII only where the locale says so")
    func unicode() {
        #expect(!style(.auto, terminal: true, [:]).isUnicode)
        for locale in ["de_DE.UTF-8", "de_DE.UTF-8@euro", "C.utf8", "UTF-8"] {
            #expect(style(.auto, terminal: true, ["LANG": locale]).isUnicode, "\(locale)")
        }
        #expect(!style(.auto, terminal: true, ["LANG": "de_DE.ISO-8859-1"]).isUnicode)
        #expect(!style(.auto, terminal: true, ["LANG": "de_DE.UTF-8", "LC_ALL": "C"]).isUnicode)
        #expect(
            style(.auto, terminal: true, ["LANG": "C", "LC_ALL": "", "LC_CTYPE": "C.utf8"]).isUnicode == true)
    }

    @Test("lines are only broken for a terminal")
    func width() {
        #expect(style(.auto, terminal: false, [:]).width == nil)
        #expect(style(.auto, terminal: true, [:]).width == 100)
    }
}
