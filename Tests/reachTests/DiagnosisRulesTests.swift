// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import Testing

@testable import reach

/// What observations mean, without a network.
struct DiagnosisRulesTests {
    private let url = URL(string: "https://updates.example.com/x") ?? URL(filePath: "/")

    private func exchange(_ outcome: ExchangeObservation.Outcome, ahead: Int64? = nil) -> ExchangeObservation
    {
        ExchangeObservation(outcome: outcome, clockAhead: ahead)
    }

    private func name(
        _ outcome: NameObservation.Outcome, took: Duration = .zero, servers: [String] = ["192.0.2.53"]
    )
        -> Finding
    {
        DiagnosisRules.name(
            NameObservation(name: "updates.example.com", outcome: outcome, took: took, servers: servers))
    }

    @Test("Names: found, slow, unknown, no server")
    func names() throws {
        let address = try #require(IPAddress("192.0.2.7"))
        #expect(name(.found([address])).verdict == .good)
        #expect(name(.found([address])).sentence == "updates.example.com is 192.0.2.7")
        let slow = name(.found([address]), took: .milliseconds(5_100))
        #expect(slow.verdict == .doubtful)
        #expect(slow.sentence.hasSuffix("found after 5.1 s"))
        #expect(name(.noSuchName).sentence.contains("know no address"))
        #expect(name(.noAnswer, servers: []).sentence == "no name server is configured")
        #expect(name(.noAnswer).sentence == "no name server answers (192.0.2.53)")
    }

    @Test("Redirects within the site are no portal")
    func redirects() {
        func verdict(_ location: String) -> Finding.Verdict {
            DiagnosisRules.answer(exchange(.answered(status: 301, location: location)), url: url).verdict
        }
        #expect(verdict("/y") == .good)
        #expect(verdict("https://updates.example.com/y") == .good)
        #expect(verdict("https://www.updates.example.com/y") == .good)
        #expect(verdict("https://example.com/y") == .good)
        #expect(verdict("http://login.hotel.example/") == .failed)
        #expect(
            DiagnosisRules.answer(exchange(.answered(status: 511, location: nil)), url: url).verdict
                == .failed)
        #expect(
            DiagnosisRules.answer(exchange(.answered(status: 404, location: nil)), url: url).verdict == .good)
        #expect(
            DiagnosisRules.answer(exchange(.answered(status: 503, location: nil)), url: url).verdict
                == .failed)
    }

    @Test("The clock: minutes are no matter; days are the cause of an invalid certificate")
    func clock() {
        let answered = ExchangeObservation.Outcome.answered(status: 200, location: nil)
        #expect(DiagnosisRules.clock(exchange(answered)) == nil)
        #expect(DiagnosisRules.clock(exchange(answered, ahead: -300))?.verdict == .good)
        let late = DiagnosisRules.clock(exchange(answered, ahead: -86_400 * 3))
        #expect(late?.sentence == "this machine's clock is 3 days behind")
        #expect(late?.verdict == .doubtful)
        let hour = DiagnosisRules.clock(exchange(answered, ahead: 3_700))
        #expect(hour?.sentence == "this machine's clock is an hour ahead")
        let invalid = exchange(.notValidNow("the certificate is not valid yet"), ahead: -86_400)
        var diagnosis = Diagnosis()
        diagnosis.findings = [DiagnosisRules.answer(invalid, url: url), DiagnosisRules.clock(invalid)]
            .compactMap { $0 }
        #expect(diagnosis.cause?.check == .clock)
    }

    @Test("The cause is the first failure; a doubt only without one")
    func cause() {
        var diagnosis = Diagnosis(findings: [.good(.path, "p"), .doubtful(.name, "n", try: "")])
        #expect(diagnosis.cause?.check == .name)
        diagnosis.findings += [.failed(.ipv6, "6", try: ""), .failed(.answer, "a", try: "")]
        #expect(diagnosis.cause?.check == .ipv6)
        diagnosis.findings = [.failed(.answer, "a", try: ""), .failed(.packets, "b", try: "")]
        #expect(diagnosis.cause?.check == .packets)
        #expect(Diagnosis(findings: [.good(.path, "p"), .skipped(.ipv6, "s")]).cause == nil)
    }

    @Test("Lines fit into 40 columns, and stay whole in a pipe")
    func lines() {
        let finding = Finding.failed(
            .ipv6, "IPv6 is broken: [2001:db8::1]:443 does not answer within 4 s", try: "mend it")
        var style = Style()
        #expect(
            DiagnosisPrinter.line(finding, style)
                == "✗ IPv6        IPv6 is broken: [2001:db8::1]:443 does not answer within 4 s")
        style.width = 40
        #expect(DiagnosisPrinter.line(finding, style).split(separator: "\n").allSatisfy { $0.count <= 40 })
    }
}
