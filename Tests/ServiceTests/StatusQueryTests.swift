// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachabilityCore
import Service
import ServiceCore
import SessionCore
import TestSupport
import Testing

@Suite("Since when, from a running service", .timeLimit(.minutes(10)))
struct StatusQueryTests {
    private func report(
        _ status: ReachabilityStatus, interface: String?, reason: String = "so it is"
    ) -> Report {
        var path = ReachabilityPath()
        path.reason = ReachabilityReason(.noRoute, sentence: reason)
        path.interface = interface
        return Report(status: status, path: path, links: [])
    }

    private func reply(_ parameters: String) -> [UInt8] { Array(#"{"parameters":{\#(parameters)}}"#.utf8) }

    @Test("the service has to see the same network")
    func sameNetwork() {
        let since = #""since":"2026-01-02T03:04:05.678Z","source":null,"gateway":null,"reason":"so it is""#
        let answer = reply(#""status":"wired","interface":"eth0",\#(since)"#)
        let known = StatusQuery.since(report(.wired, interface: "eth0"), reply: answer)
        #expect(known?.text == "2026-01-02T03:04:05.678Z")
        #expect(StatusQuery.since(report(.wifi, interface: "eth0"), reply: answer) == nil)
        #expect(StatusQuery.since(report(.wired, interface: "eth1"), reply: answer) == nil)
        #expect(StatusQuery.since(report(.wired, interface: nil), reply: answer) == nil)
        #expect(
            StatusQuery.since(report(.wired, interface: "eth0", reason: "another"), reply: answer) == nil)
    }

    @Test("an invalid answer has no effect")
    func noAnswer() {
        let report = report(.wired, interface: nil)
        for text in ["", "x", "{}", #"{"error":"a.b","parameters":{"status":"wired"}}"#] {
            #expect(StatusQuery.since(report, reply: Array(text.utf8)) == nil)
        }
        #expect(StatusQuery.since(report, reply: reply(#""status":"wired","since":"\u001b[31m""#)) == nil)
        #expect(StatusQuery.since(report, at: "/nonexistent/reach.varlink") == nil)
    }

    @Test("a report takes over what the service knows of costs, hints included, if it sees the same network")
    func costs() async throws {
        let lab = try await ServiceLab(configure: { $0.constrainedInterfaces = ["eth0"] })
        var client = try lab.client()
        _ = try client.call("SetHint", ["interface": "eth0", "metered": "guess-yes", "roaming": true])
        let reply = try #require(StatusQuery.state(at: lab.socket, within: .seconds(60)))
        let path = FakeNetwork.wired.evaluate(.general)
        let link = LinkReport(name: "eth0", index: 2, medium: .ethernet, isOnline: true, reason: path.reason)
        var report = Report(status: .wired, path: path, links: [link])
        StatusQuery.adoptCosts(of: reply, into: &report)
        #expect(report.path.isExpensive && report.path.metered == .guessYes)
        #expect(report.links[0].isRoaming && report.links[0].isConstrained)
        var other = Report(status: .wifi, path: path, links: [link])
        StatusQuery.adoptCosts(of: reply, into: &other)
        StatusQuery.adoptCosts(of: Array("{}".utf8), into: &other)
        #expect(!other.path.isExpensive && other.links[0].metered == .unknown)
        await lab.stop()
    }

    private static let eth0 = LinkReport(
        name: "eth0", index: 2, medium: .ethernet, isOnline: true,
        reason: FakeNetwork.wired.evaluate(.general).reason)

    @Test("UPL-447 What the command line says of one interface leaves the service's word on others")
    func costsBesides() {
        let links = [Self.eth0, Self.eth0].enumerated().map { place, link in
            LinkReport(
                name: "eth\(place)", index: 2, medium: link.medium, isOnline: true, reason: link.reason,
                cost: NetworkCost(place == 0 ? .no : .unknown, isConstrained: place == 0))
        }
        var report = report(.wired, interface: "eth0")
        report.links = links
        let answer = reply(
            #""status":"wired","interface":"eth0","source":null,"gateway":null,"reason":"so it is","links":["#
                + #"{"name":"eth0","metered":"yes","roaming":true,"constrained":false},"#
                + #"{"name":"eth1","metered":"guess-yes","roaming":false,"constrained":true}]"#)
        StatusQuery.adoptCosts(of: answer, into: &report, besides: ["eth0"])
        #expect(report.links[0].metered == .no && report.links[0].isRoaming && report.links[0].isConstrained)
        #expect(report.path.metered == .no && report.path.isConstrained)
        #expect(report.links[1].metered == .guessYes && report.links[1].isConstrained)
    }

    /// In place of a probe.
    private final class Internet: ServiceComponent {
        let name = "internet"
        private var context: ServiceContext?

        func start(_ context: ServiceContext) throws(ServiceError) { self.context = context }
        func statusChanged(_ change: CommittedChange) {
            guard change.event == .initial, let context else { return }
            let boot = context.bootClock() - 12_500_000_000
            var findings = InternetFindings(.portal, portalURL: URL(string: "http://p.example/"))
            findings.uplinks = [
                UplinkInternet(
                    interface: "eth0", isPreferred: true,
                    InternetAnswer(.portal, "a redirect", portalURL: findings.portalURL),
                    wall: context.wallClock().nanoseconds - 12_500_000_000, boot: boot,
                    router: UplinkRouter(address: "192.0.2.1", standing: .answers)),
                UplinkInternet(interface: "wlan0", InternetAnswer(.full, "204"), wall: 0, boot: boot),
            ]
            context.notify(findings: findings)
        }
        func stop(_ done: @escaping () -> Void) {
            context = nil
            done()
        }
    }

    @Test("UPL-448 A report takes over what the service has found behind each uplink, with the sentence")
    func internet() async throws {
        let lab = try await ServiceLab(parts: { [Internet()] })
        let reply = try #require(StatusQuery.state(at: lab.socket, within: .seconds(60)))
        let path = FakeNetwork.wired.evaluate(.general)
        var report = Report(status: .wired, path: path, links: [Self.eth0])
        StatusQuery.adoptInternet(of: reply, into: &report)
        #expect(report.internet == .portal && report.portal == "http://p.example/")
        let uplink = try #require(report.uplink(Self.eth0))
        #expect(uplink.isPreferred && uplink.state == .portal && uplink.reason == "a redirect")
        #expect(uplink.portal == "http://p.example/" && uplink.router?.standing == .answers)
        let sentence = try #require(report.internetSentence)
        #expect(sentence.hasPrefix("eth0: sign in at http://p.example/, for "), "\(sentence)")
        #expect(sentence.hasSuffix(" s; wlan0 has internet, transfers use it"), "\(sentence)")
        // Its own findings replace those of the service.
        report.add(nil)
        #expect(report.internet == nil && report.internetSentence == nil)
        var other = Report(status: .wifi, path: path, links: [Self.eth0])
        StatusQuery.adoptInternet(of: reply, into: &other)
        StatusQuery.adoptInternet(of: Array("{}".utf8), into: &other)
        #expect(other.internet == nil && other.uplinks.isEmpty && other.adoptedSentence == nil)
        await lab.stop()
    }

    @Test("a running service knows when it has seen the status begin")
    func running() async throws {
        let lab = try await ServiceLab()
        var client = try lab.client()
        try client.send("Wait", ["goal": "unreachable"])
        lab.kernel.change { $0.setCarrier($0.index("eth0"), false) }
        let reported = try #require(try client.reply())["parameters"]
        let report = report(
            .unreachable, interface: reported?["interface"]?.string, reason: reported?["reason"]?.string ?? ""
        )
        // The path has lost its addresses with the carrier, as in the report.
        let since = StatusQuery.since(report, at: lab.socket, within: .seconds(60))
        #expect(since != nil && since?.text == reported?["since"]?.string)
        await lab.stop()
    }
}
