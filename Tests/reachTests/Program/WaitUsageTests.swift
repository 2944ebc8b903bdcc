// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ServiceCore
import SessionCore
import Testing

@testable import reach

@Suite("The options of wait")
struct WaitUsageTests {
    private func parse(_ arguments: String) throws -> Wait? {
        try Reach.parseAsRoot(["wait"] + arguments.split(separator: " ").map(String.init)) as? Wait
    }

    @Test(
        "UPL-216 interfaces and patterns are repeated; the short names are those of wait-online and nm-online"
    )
    func values() throws {
        let wait = try #require(
            try parse(
                "-i eth0 --interface wlan0 --all --ignore docker* --ignore veth? -t 60 --no-carrier-timeout 2.5"
            ))
        #expect(wait.interfaces == ["eth0", "wlan0"] && wait.needsAll)
        #expect(wait.ignored.map(\.description) == ["docker*", "veth?"])
        #expect(wait.timeout == .seconds(60) && wait.noCarrierTimeout == .milliseconds(2500))
        let plain = try #require(try parse("--any --timeout 0 --no-carrier-timeout 100"))
        #expect(plain.interfaces.isEmpty && plain.ignored.isEmpty && !plain.needsAll)
        #expect(try parse("--no-carrier-timeout 0 --timeout 1")?.noCarrierTimeout == .zero)
        let never = try #require(try parse("--timeout 0 --no-carrier-timeout 0"))
        #expect(never.limits == WaitLimits() && wait.limits.noCarrier == .milliseconds(2500))
        let internet = try #require(try parse("--for internet --probe http://192.0.2.1/ --probe-status 204"))
        #expect(internet.goal == .internet && internet.probe.configuration != nil)
    }

    @Test(
        "UPL-216 options that contradict each other end with 64 and name both",
        arguments: [
            ("--any --all -i a", ["--any", "--all"]), ("--all", ["--all", "--interface"]),
            ("-i eth0 --ignore e*", ["--ignore e*", "eth0"]),
            ("--for internet", ["--for internet", "--probe"]),
            ("--probe http://192.0.2.1/", ["--for internet", "--probe"]),
            ("--for unreachable --no-carrier-timeout 1", ["--for unreachable", "--no-carrier-timeout"]),
            ("--no-carrier-timeout 30", ["--no-carrier-timeout", "--timeout", "30 s"]),
            ("--timeout 5 --no-carrier-timeout 6", ["--no-carrier-timeout", "--timeout", "5 s"]),
            ("-i eth0:routable", ["without an operational state"]), ("--ignore a/b", ["'docker*'"]),
        ])
    func conflicts(_ arguments: String, _ words: [String]) {
        do {
            _ = try parse(arguments)
            Issue.record("\(arguments) was taken")
        } catch {
            let message = Reach.fullMessage(for: error)
            #expect(Reach.exitCode(for: error) == .usage)
            for word in words { #expect(message.contains(word), "\(message)") }
        }
    }

    @Test("UPL-217 what is said of the internet, and of interfaces that do not count")
    func unmet() {
        func text(_ report: Report, _ condition: WaitCondition) -> [Substring] {
            UnmetView.text(report, condition, stable: .zero, waited: .seconds(5), Style()).split(
                separator: "\n")
        }
        var report = CannedReports.wired
        let internet = WaitCondition(goal: .internet)
        #expect(
            text(report, internet).first
                == "reach: not connected to the internet after 5 s: eth0 has a path, the server has not answered yet"
        )
        report.internet = .limited
        #expect(
            text(report, internet).first == """
                reach: not connected to the internet after 5 s: eth0 has a path, internet limited: there is a path, but the \
                server does not answer as it should
                """)
        let elsewhere = WaitCondition(goal: .internet, interfaces: ["wlan0"])
        #expect(text(report, elsewhere)[0].hasSuffix("after 5 s: the server has not answered yet"))
        report.uplinks = ["eth0", "wlan0"].map {
            UplinkInternet(
                interface: $0, isPreferred: $0 == "eth0", InternetAnswer(.limited, "evidence"), wall: 0,
                boot: 0)
        }
        #expect(
            text(report, elsewhere) == [
                "reach: not connected to the internet through wlan0 after 5 s: wlan0: evidence",
                // A link without a path has no internet, whatever was found before.
                "  wlan0  rfkill-blocked",
            ])
        let ignoring = WaitCondition(goal: .wifi, ignored: [InterfacePattern("eth*")].compactMap { $0 })
        #expect(
            text(report, ignoring) == [
                "reach: not reachable by Wi-Fi (eth* ignored) after 5 s: wired through eth0",
                "  wlan0  rfkill-blocked",
            ])
        let both = WaitCondition(goal: .reachable, interfaces: ["wlan0", "wwan9"], needsAll: true)
        let limits = WaitLimits(noCarrier: .seconds(10))
        let given = UnmetView.text(CannedReports.rescue, both, withoutCarrier: limits, Style())
        #expect(
            given.split(separator: "\n").prefix(2) == [
                "reach: not reachable through wlan0 and wwan9: gave up after 10 s without a carrier on wlan0 and wwan9",
                "  wwan9: there is no such interface",
            ])
    }
}
