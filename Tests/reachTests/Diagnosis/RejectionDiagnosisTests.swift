// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import Testing

@testable import reach

/// What the doctor says of connections that are refused, or get no answer, from observations.
struct RejectionDiagnosisTests {
    @Test(
        "FLD-009 an ICMP message says who refuses, and what",
        arguments: [
            (
                "10.0.0.1", 3, 13, "the server's own address refuses (ICMP: administratively prohibited)",
                "open port 80"
            ),
            (
                "10.0.0.1", 3, 3, "the server's own address refuses (ICMP: port unreachable)",
                "nothing listens there"
            ),
            (
                "192.0.2.1", 3, 10, "192.0.2.1 on the way refuses (ICMP: administratively prohibited)",
                "whose firewall"
            ),
            (
                "192.0.2.1", 3, 9, "192.0.2.1 on the way refuses (ICMP: administratively prohibited)",
                "whose firewall"
            ),
            ("192.0.2.1", 3, 3, "192.0.2.1 on the way refuses (ICMP: port unreachable)", "whose firewall"),
            ("192.0.2.1", 3, 7, "192.0.2.1 on the way refuses (ICMP: host unreachable)", "behind 192.0.2.1"),
            ("192.0.2.1", 3, 6, "192.0.2.1 on the way refuses (ICMP: no route)", "routes of 192.0.2.1"),
            ("192.0.2.1", 3, 1, "192.0.2.1 on the way refuses (ICMP: host unreachable)", "behind 192.0.2.1"),
            ("192.0.2.1", 3, 0, "192.0.2.1 on the way refuses (ICMP: no route)", "routes of 192.0.2.1"),
            ("192.0.2.1", 11, 0, "192.0.2.1 on the way gives up (ICMP: time exceeded)", "round in circles"),
            ("192.0.2.1", 3, 2, "192.0.2.1 on the way refuses (ICMP type 3, code 2)", "whose firewall"),
            (
                "10.0.0.2", 3, 13, "this machine refuses (ICMP: administratively prohibited)",
                "nft list ruleset"
            ),
            (
                "127.0.0.1", 3, 13, "this machine refuses (ICMP: administratively prohibited)",
                "nft list ruleset"
            ),
            (
                "2001:db8::9", 1, 5, "2001:db8::9 on the way refuses (ICMP: administratively prohibited)",
                "whose firewall"
            ),
            (
                "2001:db8::9", 1, 1, "2001:db8::9 on the way refuses (ICMP: administratively prohibited)",
                "whose firewall"
            ),
            (
                "2001:db8::9", 1, 6, "2001:db8::9 on the way refuses (ICMP: administratively prohibited)",
                "whose firewall"
            ),
            (
                "2001:db8::9", 1, 3, "2001:db8::9 on the way refuses (ICMP: host unreachable)",
                "behind 2001:db8::9"
            ),
            ("2001:db8::9", 1, 0, "2001:db8::9 on the way refuses (ICMP: no route)", "routes of 2001:db8::9"),
            (
                "2001:db8::9", 1, 4, "2001:db8::9 on the way refuses (ICMP: port unreachable)",
                "whose firewall"
            ),
            (
                "2001:db8::9", 3, 0, "2001:db8::9 on the way gives up (ICMP: time exceeded)",
                "round in circles"
            ),
        ] as [(String, UInt8, UInt8, String, String)])
    func rejection(from: String, type: UInt8, code: UInt8, sentence: String, advice: String) throws {
        let server = try #require(IPAddress(from.contains(":") ? "2001:db8::1" : "10.0.0.1"))
        let rejection = ConnectionRejection(
            from: try #require(IPAddress(from)), type: type, code: code, server: server,
            source: IPAddress("10.0.0.2"))
        let seen = ConnectionObservation(
            address: server, port: 80, outcome: .rejected(rejection), took: .zero)
        let path = ReachabilityPath(status: .wired, interface: "eth0", medium: .ethernet, generation: 1)
        let finding = try #require(DiagnosisRules.connections([seen], path: path).first)
        #expect(finding.verdict == .failed && finding.sentence.hasSuffix(": \(sentence)"), "\(finding)")
        #expect(finding.advice.contains(advice), "\(finding)")
        #expect(!finding.advice.contains("router's uplink"))
    }

    @Test(
        "FLD-009 the router's uplink is to blame where nothing comes back, not where this machine sends nothing"
    )
    func nothing() throws {
        let path = ReachabilityPath(status: .wired, interface: "eth0", medium: .ethernet, generation: 1)
        func advice(_ outcome: ConnectionObservation.Outcome) throws -> String {
            let seen = ConnectionObservation(
                address: try #require(IPAddress("192.0.2.7")), port: 80, outcome: outcome, took: .zero)
            return try #require(DiagnosisRules.connections([seen], path: path).first).advice
        }
        #expect(try advice(.timedOut).contains("look at the router's uplink"))
        #expect(try advice(.failed("Operation not permitted")).contains("nft list ruleset"))
    }
}
