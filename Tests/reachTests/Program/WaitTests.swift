// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore
import Testing

@testable import reach

@Suite("The condition of wait")
struct WaitConditionTests {
    private func match(_ report: Report, _ goal: WaitCondition.Goal, _ interface: String? = nil) -> String? {
        WaitCondition(goal: goal, interfaces: interface.map { [$0] } ?? []).match(report)
    }

    @Test("anywhere")
    func anywhere() {
        #expect(match(CannedReports.wired, .reachable) == "eth0")
        #expect(match(CannedReports.wired, .wired) == "eth0")
        #expect(match(CannedReports.wired, .wifi) == nil)
        #expect(match(CannedReports.wired, .unreachable) == nil)
        #expect(match(CannedReports.hostileWiFi, .wifi) == "wg0")
        #expect(match(CannedReports.rescue, .unreachable) == "")
        #expect(match(CannedReports.rescue, .reachable) == nil)
        for goal in WaitCondition.Goal.allCases { #expect(match(CannedReports.unknown, goal) == nil) }
    }

    @Test("through one interface: the path in use or the link's own")
    func interface() {
        #expect(match(CannedReports.wired, .reachable, "eth0") == "eth0")
        #expect(match(CannedReports.wired, .reachable, "wlan0") == nil)
        #expect(match(CannedReports.wired, .unreachable, "wlan0") == "wlan0")
        #expect(match(CannedReports.rescue, .reachable, "wlan0") == "wlan0")
        #expect(match(CannedReports.rescue, .wifi, "wlan0") == "wlan0")
        #expect(match(CannedReports.rescue, .wired, "wlan0") == nil)
        #expect(match(CannedReports.rescue, .reachable, "eth0") == nil)
        #expect(match(CannedReports.wired, .unreachable, "nosuch") == "nosuch")
        #expect(match(CannedReports.unknown, .unreachable, "eth0") == nil)
    }

    @Test("through one interface that is not the preferred one, what carries it counts, and not its own kind")
    func carrier() {
        var report = CannedReports.wired
        for isWiFi in [true, false] {
            let vlan = LinkReport(
                name: "vlan5", index: 77, medium: .vlan, isOnline: true,
                reason: ReachabilityReason(.defaultRoute, sentence: ""), isWiFi: isWiFi)
            report.links = [vlan]
            #expect((match(report, .wifi, "vlan5") != nil) == isWiFi)
            #expect((match(report, .wired, "vlan5") != nil) == !isWiFi)
        }
    }

    @Test("while a loss is held back nothing holds")
    func grace() {
        var report = CannedReports.wired
        report.path.isOnline = false
        report.path.instantStatus = .unreachable
        report.links = [CannedReports.wlan0]
        for goal in WaitCondition.Goal.allCases {
            #expect(match(report, goal) == nil)
            for name in ["eth0", "wlan0"] { #expect(match(report, goal, name) == nil) }
        }
        report.status = .unreachable
        #expect(match(report, .unreachable, "eth0") == "eth0")
        // Another link has become the path at once, so there is no grace period.
        report.status = .wifi
        report.path.isOnline = true
        report.path.interface = "wlan0"
        #expect(match(report, .unreachable, "eth0") == "eth0")
    }
}

@Suite("The time a condition has to hold")
struct WaitProgressTests {
    private func at(_ milliseconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    }

    @Test("at once")
    func atOnce() {
        var progress = WaitProgress(stable: .zero)
        #expect(!progress.isMet(at: at(0)))
        #expect(progress.deadline == nil)
        progress.observe("eth0", at: at(10))
        #expect(progress.isMet(at: at(10)))
    }

    @Test("an interruption and another interface start anew, another path through the same one does not")
    func stable() {
        var progress = WaitProgress(stable: .seconds(1))
        progress.observe("eth0", at: at(0))
        #expect(progress.deadline == at(1000))
        progress.observe("eth0", at: at(500))
        #expect(progress.deadline == at(1000))
        #expect(!progress.isMet(at: at(999)))
        #expect(progress.isMet(at: at(1000)))
        progress.observe("wlan0", at: at(900))
        #expect(progress.deadline == at(1900))
        progress.observe(nil, at: at(1000))
        #expect(progress.deadline == nil)
        progress.observe("wlan0", at: at(1100))
        #expect(progress.deadline == at(2100))
    }
}
