// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Reachability
import Testing

@testable import reach

/// Findings from observations, without a network.
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
    }

    /// 2027-01-01.
    private static let today: Int64 = 1_798_761_600
    private static let day: Int64 = 86_400

    /// A clock that shows `today`, and a certificate that is not valid from -1 to 1 days around that.
    private static func evidence(
        made: Int64 = -300, certificate: ClosedRange<Int64>?, server: Int64? = nil
    ) -> ClockEvidence {
        ClockEvidence(
            now: today, made: today + made * day,
            certificate: CertificateTimes(
                begins: certificate.map { today + $0.lowerBound * day },
                ends: certificate.map { today + $0.upperBound * day }),
            server: server.map { today + $0 * day })
    }

    @Test(
        "A certificate that is not valid now: is it the clock or the certificate",
        arguments: [
            // The program was built later than now, whatever time an unknown server sends.
            (evidence(made: 900, certificate: 800...1165, server: 0), .clock, .failed, ""),
            (evidence(made: 900, certificate: nil), .clock, .failed, ""),
            // By the server's clock it is valid.
            (evidence(certificate: 800...1165, server: 900), .clock, .failed, ""),
            (evidence(certificate: -400 ... -35, server: -100), .clock, .failed, ""),
            // It is not valid by that either, or both agree.
            (evidence(certificate: 800...1165, server: 0), .certificate, .good, "agrees with the server's"),
            (evidence(certificate: -400 ... -35, server: 0), .certificate, .good, "agrees with the server's"),
            (
                evidence(certificate: -400 ... -35, server: 3), .certificate, .doubtful,
                "this machine's clock is 3 days behind"
            ),
            // No server sends the time.
            (
                evidence(certificate: 800...1165), .probablyClock, .failed,
                "this machine's clock shows 2027-01-01, and the certificate is valid from 2029-03-11 on: the clock is probably behind"
            ),
            (
                evidence(certificate: -400 ... -35), .probablyCertificate, .doubtful,
                "this machine's clock shows 2027-01-01, which nothing here confirms"
            ),
            (
                evidence(certificate: nil), .probablyCertificate, .doubtful,
                "this machine's clock shows 2027-01-01, which nothing here confirms"
            ),
        ] as [(ClockEvidence, ClockEvidence.Culprit, Finding.Verdict, String)])
    func culprit(
        evidence: ClockEvidence, culprit: ClockEvidence.Culprit, verdict: Finding.Verdict, sentence: String
    ) throws {
        #expect(evidence.culprit == culprit)
        let seen = exchange(.notValidNow("the certificate is not valid", evidence))
        let findings = [DiagnosisRules.answer(seen, url: url), try #require(DiagnosisRules.clock(seen))]
        #expect(findings[1].verdict == verdict)
        #expect(sentence.isEmpty || findings[1].sentence == sentence)
        // The advice is about the cause.
        let isClock = culprit == .clock || culprit == .probablyClock
        #expect(Diagnosis(findings: findings).cause?.check == (isClock ? .clock : .answer))
        #expect(
            findings[0].sentence.hasPrefix(
                evidence.certificate.begins == nil
                    ? "the certificate is not valid" : "the certificate of updates.example.com is valid from "
            ))
        #expect(findings[0].advice.hasPrefix(isClock ? "set this machine's clock" : "have the server's"))
    }

    @Test(
        "UPL-165 what waits for the clock is told where nothing keeps it right, and not of expired certificates"
    )
    func waits() throws {
        let words = "; nothing keeps it right, and https requests wait until it is set"
        for (evidence, isTold) in [
            (Self.evidence(made: 900, certificate: 800...1165), true),
            (Self.evidence(certificate: 800...1165, server: 900), true),
            (Self.evidence(certificate: 800...1165), true),
            (Self.evidence(certificate: -400 ... -35, server: -100), false),
            (Self.evidence(certificate: 800...1165, server: 0), false),
        ] {
            for isSynchronized in [true, false] {
                var evidence = evidence
                evidence.isSynchronized = isSynchronized
                let finding = try #require(DiagnosisRules.clock(exchange(.notValidNow("", evidence))))
                #expect(
                    finding.sentence.hasSuffix(words) == (isTold && !isSynchronized), "\(finding.sentence)")
            }
        }
    }

    private func page(_ text: String, type: String? = "text/html") -> AnsweredPage? {
        AnsweredPage(Data(text.utf8), type: type)
    }

    @Test("Pages: their title, where they send to, and whose they say they are")
    func pages() throws {
        #expect(page("{}", type: "application/json") == nil)
        #expect(page("hello", type: nil) == nil)
        #expect(page(" \n<!DOCTYPE HTML><p>", type: "text/plain")?.title == "")
        let plain = try #require(
            page("<HTML><Title lang=x>\n Sign  in\n</TITLE><meta name=a content='url=b'>"))
        #expect(plain.title == "Sign in" && plain.refresh == nil && !plain.isGateway)
        #expect(page("<title>a</title")?.title == "a")
        #expect(page("<title>no end")?.title == "")
        #expect(page("<title>\(String(repeating: "x", count: 99))</title>")?.title.count == 61)
        for tag in [
            #"<meta http-equiv="refresh" content="0; url=http://login.example/">"#,
            "<META content='1;URL=http://login.example/' http-equiv=Refresh>",
            "<meta charset=utf-8><meta http-equiv=refresh content=0;url=http://login.example/>",
        ] { #expect(page(tag)?.refresh?.hasPrefix("http://login.example/") == true, "\(tag)") }
        #expect(page("<html><!--<WISPAccessGatewayParam>-->")?.isGateway == true)
    }

    @Test("An answer with status 200 in the server's place is a portal, or at least a remark")
    func answers() throws {
        let http = try #require(URL(string: "http://updates.example.com/x"))
        func finding(
            _ text: String, _ url: URL, status: Int = 200, isExpected: Bool? = nil
        ) -> Finding {
            var seen = exchange(.answered(status: status, location: nil))
            (seen.page, seen.isExpected) = (page(text, type: nil), isExpected)
            return DiagnosisRules.answer(seen, url: url)
        }
        let hotel = "<html><title>Hotel Wi-Fi</title>"
        let told = finding(hotel, http)
        #expect(told.verdict == .good)
        #expect(told.sentence == #"updates.example.com answers with status 200, a web page: "Hotel Wi-Fi""#)
        #expect(told.advice.contains("--probe-body"))
        #expect(Diagnosis(findings: [told]).cause == nil && Diagnosis(findings: [told]).remark == told)
        // The certificate names the server that answers.
        #expect(finding(hotel, url).advice.isEmpty)
        #expect(finding("{}", http) == .good(.answer, "updates.example.com answers with status 200"))
        let refresh = hotel + "<meta http-equiv=refresh content='0;url=http://login.hotel.example/'>"
        #expect(
            finding(refresh, http).sentence
                == "updates.example.com answers with a page that sends to login.hotel.example: a captive portal"
        )
        #expect(
            finding("<html><WISPAccessGatewayParam>", http).sentence.hasSuffix("(WISPr): a captive portal"))
        // A given expectation of the answer decides.
        #expect(finding(refresh, http, isExpected: true).verdict == .good)
        let other = finding(hotel, http, isExpected: false)
        #expect(other.verdict == .failed && other.sentence.hasSuffix("which is not what it should"))
        #expect(finding("", http, status: 404, isExpected: true).sentence.hasSuffix("404, as it should"))
        #expect(finding("", http, status: 204, isExpected: false).verdict == .failed)
        #expect(finding("", http, status: 503, isExpected: false).advice.contains("fault of its own"))
    }

    @Test("What TLS refuses is asked without TLS: a portal shows there")
    func inTheClear() {
        let login = exchange(.answered(status: 302, location: "http://login.hotel.example/"))
        let refused = exchange(.unknownAuthority("nobody has signed it"))
        #expect(DiagnosisRules.mayBePortal(refused))
        #expect(!DiagnosisRules.mayBePortal(login) && !DiagnosisRules.mayBePortal(exchange(.silent)))
        #expect(DiagnosisRules.mayBePortal(exchange(.failed("the server closed the connection"))))
        #expect(DiagnosisRules.portal(login, url: url)?.isPortal == true)
        #expect(DiagnosisRules.portal(exchange(.answered(status: 200, location: nil)), url: url) == nil)
        #expect(
            DiagnosisRules.answer(refused, url: url, inTheClear: login).sentence
                == "updates.example.com sends to login.hotel.example: a captive portal")
        for other in [
            exchange(.silent), exchange(.answered(status: 301, location: "https://updates.example.com/")),
        ] {
            #expect(
                DiagnosisRules.answer(refused, url: url, inTheClear: other).sentence == "nobody has signed it"
            )
        }
    }

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

    @Test(
        "FLD-013 FLD-014 FLD-015 FLD-016 FLD-017 FLD-018 advice names what has to be changed",
        arguments: [
            (LinkObstacle.ignoresAdvertisements, "sysctl net.ipv6.conf.eth0.accept_ra=2"),
            (.smallMTU(1000), "ip link set eth0 mtu 1500"),
            (.ipv6Disabled, "sysctl net.ipv6.conf.eth0.disable_ipv6=0"),
            (.link(.port("p0", .heldByBridge(.listening))), "spanning tree holds a new port back"),
            (.link(.port("p0", .heldByBridge(.disabled))), "bridge link set dev p0 state 3"),
            (.link(.below("low0", .switchedOff)), "switch it on (ip link set low0 up)"),
            (.link(.below("br0", .port("p0", .switchedOff))), "switch it on (ip link set p0 up)"),
            (.link(.below("low0", .noCarrier)), "look at cable, switch or antenna of low0"),
            (.link(.heldDown), "ip link set eth0 protodown off"),
            (.link(.radioBlocked), "unblock the radio (rfkill list)"),
            (.link(.notOperational), "look at cable, switch or antenna of eth0; switch it on"),
        ] as [(LinkObstacle, String)])
    func obstacle(_ obstacle: LinkObstacle, advice: String) {
        var path = ReachabilityPath(status: .unreachable, interface: nil, medium: .ethernet, generation: 1)
        path.reason = ReachabilityReason(
            .linkDown, interface: "eth0", sentence: "what is wrong", obstacle: obstacle)
        #expect(DiagnosisRules.path(path).advice.contains(advice), "\(DiagnosisRules.path(path))")
    }

    @Test(
        "The path: each reason has advice of its own, and names the link",
        arguments: [
            (ReachabilityReason.Code.linkDown, "look at cable, switch or antenna of eth0; switch it on"),
            (.noAddress, "look whether a DHCP server answers on eth0"),
            (.linkLocalOnly, "look whether a DHCP server answers on eth0"),
            (.noRoute, "look whether DHCP or router advertisements bring a gateway"),
            (.noPorts, "look at the ports of eth0: at least one needs carrier"),
            (.prohibited, "somebody has forbidden it on this machine: ip rule; ip route show type prohibit"),
            (.blackhole, "somebody has forbidden it on this machine: ip rule; ip route show type blackhole"),
            (
                .unreachableRoute,
                "somebody has forbidden it on this machine: ip rule; ip route show type unreachable"
            ),
            (.bridgePort, "move addresses and routes of eth0 to the bridge or bond above it"),
            (.dropped, "remove the route through eth0"),
            (.tunnelWithoutUnderlay, "bring up a network beneath eth0, or take the tunnel down"),
            (.unresolved, "see reach status --explain"), (.notMonitoring, "see reach status --explain"),
            (.kernelRefused, "see reach status --explain"),
        ] as [(ReachabilityReason.Code, String)])
    func path(code: ReachabilityReason.Code, advice: String) {
        var path = ReachabilityPath(status: .unreachable, interface: nil, medium: .ethernet, generation: 1)
        path.reason = ReachabilityReason(code, interface: "eth0", sentence: "eth0: what is wrong")
        let finding = DiagnosisRules.path(path)
        #expect(finding.check == .path && finding.verdict == .failed)
        #expect(finding.sentence == "eth0: what is wrong")
        #expect(finding.advice.hasPrefix(advice), "\(finding.advice)")
        path.alternative = "wlan0"
        #expect(
            DiagnosisRules.path(path).advice.hasSuffix(
                "; wlan0 has a path of its own: lower its metric, or remove the dead route"))
        path.reason = ReachabilityReason(code, interface: nil, sentence: "what is wrong")
        #expect(!DiagnosisRules.path(path).advice.contains("eth0"))
    }

    @Test("The path: without any interface the adapter is what to look for, not DHCP")
    func noInterface() {
        var path = ReachabilityPath(status: .unreachable, interface: nil, medium: nil, generation: 1)
        path.reason = ReachabilityReason(.noRoute, sentence: "there is no network interface but loopback")
        let advice = DiagnosisRules.path(path).advice
        #expect(
            advice
                == "look whether the network adapter is plugged in and its driver is loaded (ip link; dmesg)")
    }

    @Test("The path: one that is online is good, whatever leads there")
    func onlinePath() {
        for code in [ReachabilityReason.Code.defaultRoute, .hostRoute, .local] {
            var path = ReachabilityPath(status: .wired, interface: "eth0", medium: .ethernet, generation: 1)
            path.reason = ReachabilityReason(code, interface: "eth0", sentence: "a way")
            #expect(DiagnosisRules.path(path) == .good(.path, "a way"))
        }
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
