// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import ServiceCore
import SessionManager
import Testing

@testable import reach

/// What `reach doctor` prints for people.
struct DiagnosisViewTests {
    private static let styles: [(name: String, style: Style)] = [
        ("80", Style(width: 80)), ("80-color", Style(hasColor: true, width: 80)), ("40", Style(width: 40)),
        ("ascii", Style(isUnicode: false, width: 80)), ("piped", Style()),
        ("dumb", Style(hasMarks: false, width: 80)),
    ]

    private static let diagnoses: [(name: String, findings: [Finding])] = [
        (
            "good",
            [
                .good(.path, "default route via 192.0.2.1 on eth0 (metric 100)"),
                .good(.name, "updates.example.com is 198.51.100.7, 198.51.100.8, 2001:db8::7 and 2 more"),
                .good(.ipv4, "198.51.100.7:443 answers after 12 ms"),
                .skipped(.ipv6, "this machine has no IPv6, and does not need it"),
                .good(.answer, "updates.example.com answers with status 200"),
                .good(.clock, "agrees with the server's"),
            ]
        ),
        (
            "path-only",
            [
                .good(.path, "default route via 192.0.2.1 on eth0 (metric 100)"),
                .skipped(.name, Doctor.invitation),
            ]
        ),
        (
            "proxy",
            [
                .good(.path, "default route via 192.0.2.1 on eth0 (metric 100)"),
                DiagnosisRules.proxy(
                    dead,
                    .connection(
                        ConnectionObservation(
                            address: .init(v4: 0xC000_0203), port: 3128, outcome: .timedOut, took: .seconds(4)
                        )),
                    host: "updates.example.com", worksWithout: true),
            ]
        ),
        (
            "packets",
            [
                .good(.path, "default route via 192.0.2.1 on ppp0 (metric 0)"),
                .doubtful(
                    .name, "updates.example.com is 198.51.100.7, found after 5.1 s",
                    try: "look whether the first of the name servers answers: 192.0.2.53, 192.0.2.54"),
                .good(.ipv4, "198.51.100.7:443 answers after 48 ms"),
                .failed(
                    .answer, "the connection to updates.example.com stands, and then nothing comes",
                    try: "the server hangs, or a device on the way lets only small packets through"),
                DiagnosisRules.packets(
                    ExchangeObservation(outcome: .answered(status: 200, location: nil)),
                    interface: "ppp0", mtu: 1500),
            ]
        ),
    ]
    private static let dead = ProxyChoice(
        variable: "https_proxy", host: "proxy.example.com", port: 3128)

    private func text(_ name: String, _ style: Style) throws -> String {
        let findings = try #require(Self.diagnoses.first { $0.name == name }).findings
        return findings.map { DiagnosisPrinter.line($0, style) + "\n" }.joined()
            + DiagnosisPrinter.conclusion(Diagnosis(findings: findings), style)
    }

    @Test("each diagnosis in each style", arguments: diagnoses.map(\.name), styles.map(\.name))
    func golden(diagnosis: String, style: String) throws {
        let style = try #require(Self.styles.first { $0.name == style })
        try Golden.check(try text(diagnosis, style.style), "doctor-\(diagnosis)-\(style.name).txt")
    }

    @Test("user and password of the URL are shown nowhere")
    func userInURL() throws {
        let url = try #require(URL(string: "https://ann:s3cret@api.example.com/a"))
        let findings = [DiagnosisRules.answer(ExchangeObservation(outcome: .failed("broken")), url: url)]
        var line = TextLine()
        DiagnosisPrinter.writeJSON(Diagnosis(findings: findings), url, to: &line)
        #expect(
            line.text.hasPrefix(#"{"schema":1,"url":"https://api.example.com/a","findings":[{"#),
            "\(line.text)")
        #expect(!line.text.contains("s3cret") && !line.text.contains("ann"))
    }

    @Test("no line is wider than the terminal", arguments: diagnoses.map(\.name), [40, 60, 80])
    func fits(diagnosis: String, width: Int) throws {
        for line in try text(diagnosis, Style(width: width)).split(separator: "\n") {
            #expect(SafeText.width(String(line)) <= width, "\(line)")
        }
    }
}
