// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReachabilityCore
import ServiceCore
import SessionCore
import Testing

@Suite("What is behind the uplinks, in words")
struct InternetSentenceTests {
    private static let second: Int64 = 1_000_000_000

    static func uplink(
        _ name: String, _ state: InternetState, _ reason: String = "", isSilence: Bool = false,
        portal: String? = nil, router: UplinkRouter.Standing? = nil, isPreferred: Bool = false
    ) -> UplinkInternet {
        UplinkInternet(
            interface: name, isPreferred: isPreferred,
            InternetAnswer(
                state, reason, portalURL: portal.flatMap { URL(string: $0) }, isSilence: isSilence),
            wall: 1_767_312_000 * second, boot: 100 * second,
            router: router.map { UplinkRouter(address: "192.0.2.1", standing: $0) })
    }

    @Test(
        "UPL-100 the sentence says where the fault lies, and no more than is known",
        arguments: [
            (
                [
                    uplink("eth0", .limited, "no answer in 10 s", isSilence: true, router: .answers),
                    uplink("wwan0", .full, "204 from https://example.com/"),
                ],
                "eth0: the router 192.0.2.1 answers, the line behind it does not, for 12 s; wwan0 has internet"
            ),
            (
                [uplink("eth0", .limited, "no answer in 10 s", isSilence: true, router: .silent)],
                "eth0: the router 192.0.2.1 does not answer, for 12 s"
            ),
            (
                [uplink("eth0", .limited, "no answer in 10 s", isSilence: true, router: .unknown)],
                "eth0: no answer in 10 s, for 12 s"
            ),
            (
                [uplink("eth0", .limited, "503 from https://example.com/", router: .answers)],
                "eth0: the router 192.0.2.1 answers; 503 from https://example.com/, for 12 s"
            ),
            ([uplink("ppp0", .limited, "no name: not found")], "ppp0: no name: not found, for 12 s"),
            (
                [
                    uplink("wlan0", .portal, "redirected to http://p.example/", portal: "http://p.example/"),
                    uplink("eth0", .unknown),
                ], "wlan0: sign in at http://p.example/, for 12 s"
            ),
            (
                [uplink("wlan0", .portal, "511 from http://example.com/")],
                "wlan0: sign in with a browser (511 from http://example.com/), for 12 s"
            ),
            (
                [uplink("eth0", .full), uplink("wwan0", .unknown, "not asked: its traffic costs")],
                "eth0 has internet; wwan0 is not asked: its traffic costs"
            ),
        ])
    func sentences(_ uplinks: [UplinkInternet], _ sentence: String) {
        #expect(InternetSentence.text(uplinks, boot: 112 * Self.second) == sentence)
    }

    @Test(
        "UPL-100 nothing is said of nothing; a state of this moment has no length; no name steers a terminal")
    func edges() {
        #expect(InternetSentence.text([]) == nil)
        #expect(InternetSentence.text([Self.uplink("eth0", .unknown)]) == nil)
        let fresh = [Self.uplink("eth0", .limited, "no answer in 10 s")]
        #expect(InternetSentence.text(fresh, boot: 100 * Self.second + 1) == "eth0: no answer in 10 s")
        #expect(InternetSentence.text(fresh) == "eth0: no answer in 10 s")
        let hostile = [Self.uplink("eth0", .limited, "no name: \u{1B}[2J")]
        #expect(InternetSentence.text(hostile)?.unicodeScalars.contains("\u{1B}") == false)
    }

    @Test("UPL-101 since when follows a wall clock that is set, and no small difference")
    func clock() {
        var uplink = Self.uplink("eth0", .full)
        let wall = uplink.wall
        uplink.correct(wall: wall + 12 * Self.second + 5_000_000, boot: 112 * Self.second)
        #expect(uplink.wall == wall)
        uplink.correct(wall: wall + 1_000_012 * Self.second, boot: 112 * Self.second)
        #expect(uplink.wall == wall + 1_000_000 * Self.second)
    }

    @Test("UPL-102 each link of the JSON has its internet, since when, and the evidence")
    func json() {
        func link(_ name: String, online: Bool) -> LinkReport {
            LinkReport(
                name: name, index: 2, medium: .ethernet, isOnline: online,
                reason: ReachabilityReason(.defaultRoute, sentence: "a route"))
        }
        var report = Report(
            status: .wired, path: ReachabilityPath(status: .wired, interface: "eth0"),
            links: [link("eth0", online: true), link("eth1", online: false), link("eth2", online: true)])
        func text() -> String {
            var line = TextLine()
            ReportJSON.write(report, to: &line)
            return line.text
        }
        let nothing =
            #""reasonCode":"defaultRoute","internet":null,"internetSince":null,"internetReason":null,"#
        #expect(text().ranges(of: nothing).count == 3)
        #expect(
            text().hasSuffix(
                #""metered":"unknown","roaming":false,"constrained":false,"internetSentence":null}"# + "\n"))
        #expect(text().ranges(of: #""router":null,"portal":null}"#).count == 3)
        report.internet = .portal
        report.portal = "http://p.example/\"x"
        report.uplinks = [Self.uplink("eth0", .portal, "redirected to http://p.example/", isPreferred: true)]
        #expect(
            text().contains(
                #""internet":"portal","internetSince":"2026-01-02T00:00:00.000Z","internetReason":"redirected to http://p.example/","metered":"#
            ), "\(text())")
        #expect(text().contains(#""internet":"none","internetSince":null,"internetReason":null,"metered":"#))
        #expect(
            text().contains(#""internet":"unknown","internetSince":null,"internetReason":null,"metered":"#))
        #expect(text().contains(#","portal":"http://p.example/\"x","metered":"#))
        // The same links with another state are written anew.
        var known = LinkFragments()
        var line = TextLine()
        ReportJSON.write(report, to: &line, knowing: &known)
        known.keepText(of: line)
        report.uplinks[0].state = .full
        line.removeAll()
        ReportJSON.write(report, to: &line, knowing: &known)
        #expect(line.text == text() && line.text.contains(#""internet":"full","internetSince""#))
    }

    @Test("UPL-444 The JSON has the sentence, and of each link its router and where to sign in")
    func everythingInJSON() {
        func link(_ name: String) -> LinkReport {
            LinkReport(
                name: name, index: 2, medium: .ethernet, isOnline: true,
                reason: ReachabilityReason(.defaultRoute, sentence: "a route"))
        }
        var path = ReachabilityPath(status: .wired, interface: "eth0")
        path.cost = NetworkCost(.yes, isRoaming: true, isConstrained: true)
        var report = Report(status: .wired, path: path, links: [link("eth0"), link("wlan0"), link("eth1")])
        report.internet = .limited
        report.uplinks = [
            Self.uplink("eth0", .limited, "no answer", isSilence: true, router: .silent, isPreferred: true),
            Self.uplink("wlan0", .portal, "a redirect", portal: "http://p.example/", router: .answers),
        ]
        report.boot = 112 * Self.second
        var line = TextLine()
        ReportJSON.write(report, to: &line)
        #expect(line.text.contains(#""router":"silent","portal":null}"#), "\(line.text)")
        #expect(line.text.contains(#""router":"answers","portal":"http://p.example/"}"#))
        #expect(line.text.contains(#""router":null,"portal":null}"#))
        let sentence =
            "eth0: the router 192.0.2.1 does not answer, for 12 s; wlan0: sign in at http://p.example/"
        #expect(
            line.text.contains(#""roaming":true,"constrained":true,"internetSentence":"\#(sentence), for"#))
    }

    @Test("UPL-445 Where transfers follow the probe, the sentence tells which uplink they use")
    func detour() {
        func text(_ uplinks: UplinkInternet..., transfersFollow: Bool = true) -> String? {
            InternetSentence.text(uplinks, boot: 112 * Self.second, transfersFollow: transfersFollow)
        }
        let dead = Self.uplink("eth0", .limited, "no answer in 10 s", isPreferred: true)
        var modem = Self.uplink("wwan0", .full)
        modem.traits.isExpensive = true
        let wlan0 = Self.uplink("wlan0", .full)
        let fault = "eth0: no answer in 10 s, for 12 s"
        #expect(text(dead, wlan0) == "\(fault); wlan0 has internet, transfers use it")
        #expect(text(dead, modem) == "\(fault); wwan0 has internet, transfers use it")
        #expect(
            text(dead, modem, wlan0) == "\(fault); wwan0 has internet; wlan0 has internet, transfers use it")
        #expect(text(dead, wlan0, transfersFollow: false) == "\(fault); wlan0 has internet")
        let good = Self.uplink("eth0", .full, isPreferred: true)
        #expect(text(good, wlan0) == "eth0 has internet; wlan0 has internet")
        #expect(text(Self.uplink("eth0", .unknown, isPreferred: true), wlan0) == "wlan0 has internet")
        // A service says it in each report.
        let change = change([dead, wlan0], changed: [])
        #expect(
            change.report.internetSentence == "eth0: no answer in 10 s; wlan0 has internet, transfers use it")
    }

    private func change(_ uplinks: [UplinkInternet], changed: [String]) -> CommittedChange {
        var change = CommittedChange.at(5, .wired, event: .status)
        change.internet = uplinks.first(where: \.isPreferred)?.state ?? .unknown
        change.uplinks = uplinks
        change.changedUplinks = uplinks.filter { changed.contains($0.interface) }
        change.isInternet = true
        return change
    }

    @Test("UPL-103 hooks get an event of its own, with the uplink, its state and the evidence")
    func hooks() {
        let change = change(
            [
                Self.uplink("eth0", .full, "204", isPreferred: true),
                Self.uplink("wwan0", .limited, "no answer in 10 s"),
            ], changed: ["wwan0"])
        let event = HookEvent(change, reported: .wired)
        #expect(event.word == "internet" && event.interface == "wwan0")
        let values = Dictionary(uniqueKeysWithValues: event.environment.map { ($0.name, $0.value) })
        #expect(values["REACH_EVENT"] == "internet")
        #expect(values["REACH_INTERNET"] == "full")
        #expect(values["REACH_UPLINK"] == "wwan0")
        #expect(values["REACH_UPLINK_INTERNET"] == "limited")
        #expect(values["REACH_UPLINK_REASON"] == "no answer in 10 s")
        #expect(values["REACH_UPLINKS"] == "eth0=full wwan0=limited")
        #expect(values["REACH_PORTAL"] == "")
    }

    @Test(
        "UPL-103 together with a path it is an event of the path; alone it keeps the uplinks of skipped changes"
    )
    func supersede() {
        let uplinks = [
            Self.uplink("eth0", .full, isPreferred: true), Self.uplink("wwan0", .limited),
            Self.uplink("wlan0", .portal),
        ]
        var event = HookEvent(change(uplinks, changed: ["wwan0"]), reported: .wired)
        event.supersede(with: change(uplinks, changed: ["wlan0"]))
        #expect(event.word == "internet" && event.skipped == 1)
        #expect(Set(event.change.changedUplinks.map(\.interface)) == ["wwan0", "wlan0"])
        event.supersede(with: .at(6, .wired, was: .wired, event: .path))
        #expect(event.word == "path")
        event.supersede(with: change(uplinks, changed: ["wlan0"]))
        #expect(event.word == "path" && event.skipped == 3)
    }

    @Test("UPL-446 An event of the path that replaces one of the internet has its uplink as well")
    func supersededUplink() {
        let uplinks = [
            Self.uplink("eth0", .limited, "no answer", isPreferred: true),
            Self.uplink("wlan0", .portal, "a redirect", portal: "http://p.example/"),
        ]
        var event = HookEvent(change(uplinks, changed: ["wlan0"]), reported: .wired)
        var path = CommittedChange.at(6, .wired, was: .wired, event: .path)
        (path.internet, path.uplinks) = (.limited, uplinks)
        func values() -> [String: String] {
            Dictionary(uniqueKeysWithValues: event.environment.map { ($0.name, $0.value) })
        }
        #expect(values()["REACH_UPLINK_PORTAL"] == "http://p.example/")
        event.supersede(with: path)
        #expect(event.word == "path" && event.interface == path.path.interface)
        #expect(values()["REACH_UPLINK"] == "wlan0" && values()["REACH_UPLINK_INTERNET"] == "portal")
        #expect(values()["REACH_UPLINK_REASON"] == "a redirect")
        #expect(values()["REACH_UPLINK_PORTAL"] == "http://p.example/")
        #expect(
            values()["REACH_INTERNET_SENTENCE"] == "eth0: no answer; wlan0: sign in at http://p.example/")
        // Without such a change there is none.
        event = HookEvent(path, reported: .wired)
        #expect(values()["REACH_UPLINK"] == "" && values()["REACH_UPLINK_PORTAL"] == "")
    }

    @Test("UPL-104 the log names the uplink, and the state of the path in use only when that changes")
    func log() {
        let uplinks = [
            Self.uplink("eth0", .full, "204 from https://example.com/", isPreferred: true),
            Self.uplink("wwan0", .limited, "no answer in 10 s"),
        ]
        #expect(
            ChangeSentence.internet(change(uplinks, changed: ["eth0", "wwan0"]), after: .unknown) == [
                "internet full: the server answers (204 from https://example.com/ on eth0)",
                "internet on wwan0 limited: no answer in 10 s",
            ])
        #expect(
            ChangeSentence.internet(change(uplinks, changed: ["wwan0"]), after: .full)
                == ["internet on wwan0 limited: no answer in 10 s"])
        // What a server or a network says does not steer a terminal.
        let steering = [
            Self.uplink("eth0", .full, isPreferred: true), Self.uplink("wwan0", .limited, "no\u{1B}[2Jname"),
        ]
        let lines = ChangeSentence.internet(change(steering, changed: ["wwan0"]), after: .full)
        #expect(lines.count == 1 && !lines[0].unicodeScalars.contains("\u{1B}"))
    }

    @Test("UPL-105 metrics name each uplink and each state")
    func metrics() {
        var metrics = ServiceMetrics()
        #expect(!String(decoding: metrics.text, as: UTF8.self).contains("reach_uplink_internet"))
        metrics.internet = .full
        metrics.uplinks = [Self.uplink("eth0", .full), Self.uplink("wwan0", .portal)]
        let text = String(decoding: metrics.text, as: UTF8.self)
        #expect(text.contains("\nreach_uplink_internet{interface=\"eth0\",state=\"full\"} 1\n"))
        #expect(text.contains("\nreach_uplink_internet{interface=\"wwan0\",state=\"portal\"} 1\n"))
        #expect(text.contains("\nreach_uplink_internet{interface=\"wwan0\",state=\"full\"} 0\n"))
    }
}
