// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import Testing

@testable import reach

/// Findings from observations, without a network.
struct DiagnosisRulesTests {
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

    @Test(
        "FLD-107 a name server that answers with an error is not called silent",
        arguments: [
            (5, "the name server 192.0.2.53 refuses to answer this device (REFUSED)", "answer this device"),
            (2, "the name server 192.0.2.53 finds no answer itself (SERVFAIL)", "other name servers"),
            (4, "the name server 192.0.2.53 answers with error 4", "use another"),
        ] as [(UInt8, String, String)])
    func refusingServer(code: UInt8, sentence: String, advice: String) {
        var seen = NameObservation(
            name: "updates.example.com", outcome: .noAnswer, took: .zero, servers: ["192.0.2.53"])
        seen.refusals = [NameServerRefusal(server: "192.0.2.53", code: code)]
        let finding = DiagnosisRules.name(seen)
        #expect(finding.verdict == .failed && finding.sentence == sentence)
        #expect(finding.advice.contains(advice))
    }

    @Test("UPL-249 the doctor says in one sentence what the path costs, and nothing where it is free")
    func cost() {
        func sentence(_ cost: NetworkCost) -> String? {
            var path = ReachabilityPath(status: .wired, interface: "wwan0")
            path.cost = cost
            let finding = DiagnosisRules.cost(path)
            #expect(finding.map { $0.verdict == .good && $0.check == .cost } != false)
            return finding?.sentence
        }
        #expect(sentence(NetworkCost(.guessNo)) == nil && sentence(NetworkCost()) == nil)
        #expect(sentence(NetworkCost(.guessYes)) == "wwan0: traffic costs (metered: guess-yes)")
        #expect(
            sentence(NetworkCost(.no, isRoaming: true, isConstrained: true))
                == "wwan0: the modem is roaming, data is to be saved")
        var lost = ReachabilityPath(status: .wired, interface: "wwan0", isExpensive: true)
        lost.isOnline = false
        #expect(DiagnosisRules.cost(lost) == nil)
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
        // A finding that blocks all traffic comes before the blocked ones.
        diagnosis.findings = [.failed(.ipv4, "refused", try: ""), .failed(.answer, "a", try: "")]
        #expect(diagnosis.cause?.check == .ipv4)
        diagnosis.findings[1].isPortal = true
        #expect(diagnosis.cause?.check == .answer)
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

    @Test("UPL-286 The largest packet that gets through is found in few tries, and told in bytes")
    func largestPacket() {
        for limit in [536, 537, 900, 1228, 1447] {
            var tries = 0
            let found = SegmentProbe.search(in: 536..<1448) { size in
                tries += 1
                return size <= limit
            }
            #expect(found == limit && tries <= 11, "\(limit): \(found ?? 0) in \(tries)")
        }
        #expect(SegmentProbe.search(in: 536..<1448) { _ in false } == nil)
        #expect(SegmentProbe.search(in: 536..<1448) { $0 > 536 ? nil : true } == nil)
        #expect(SegmentProbe.search(in: 536..<536) { _ in true } == nil)
        func sentence(_ size: Int, _ router: String?) -> String? {
            DiagnosisRules.packetsLost(interface: "eth0", mtu: 1500, largest: .upTo(size), router: router)?
                .sentence
        }
        #expect(
            sentence(1280, "192.0.2.1")
                == "eth0: packets of more than 1,280 bytes are lost behind 192.0.2.1, and small ones are not")
        #expect(sentence(1005, nil)?.contains("more than 1,005 bytes are lost on the way") == true)
        #expect(sentence(576, nil)?.contains("more than 576 bytes") == true)
        for outcome in [SegmentProbe.Outcome.everything, .unknown] {
            #expect(
                DiagnosisRules.packetsLost(interface: "eth0", mtu: 1500, largest: outcome, router: nil) == nil
            )
        }
    }
}
