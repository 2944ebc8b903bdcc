// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import ServiceCore
import SessionCore
import TestSupport
import Testing

@Suite("A wait for several interfaces")
struct WaitInterfacesTests {
    private static let both = Report(.wiredAndWiFi)
    private static let wireless = Report(.wiredAndWiFi.with("eth0", carrier: false))
    private static let neither = Report(
        .wiredAndWiFi.with("eth0", carrier: false).with("wlan0", carrier: false))

    private func condition(
        _ goal: WaitCondition.Goal = .reachable, _ interfaces: [String] = [], all: Bool = false,
        ignoring: [String] = []
    ) -> WaitCondition {
        WaitCondition(
            goal: goal, interfaces: interfaces, needsAll: all,
            ignored: ignoring.compactMap { InterfacePattern($0) })
    }

    @Test("UPL-201 any one of several interfaces is enough")
    func any() {
        let any = condition(.reachable, ["eth0", "wlan0", "wwan9"])
        #expect(any.match(Self.both) == "eth0")
        #expect(any.match(Self.wireless) == "wlan0")
        #expect(any.match(Self.neither) == nil)
        #expect(condition(.wifi, ["eth0", "wlan0"]).match(Self.both) == "wlan0")
        #expect(condition(.unreachable, ["eth0", "wlan0"]).match(Self.both) == nil)
        #expect(condition(.unreachable, ["eth0", "wwan9"]).match(Self.both) == "wwan9")
    }

    @Test("UPL-202 with --all each of the interfaces is needed")
    func all() {
        let all = condition(.reachable, ["eth0", "wlan0"], all: true)
        #expect(all.match(Self.both) == "eth0 wlan0")
        #expect(all.match(Self.wireless) == nil)
        #expect(condition(.reachable, ["eth0", "wwan9"], all: true).match(Self.both) == nil)
        #expect(condition(.unreachable, ["eth0", "wlan0"], all: true).match(Self.neither) == "eth0 wlan0")
        #expect(condition(.wired, ["eth0", "wlan0"], all: true).match(Self.both) == nil)
    }

    @Test("UPL-203 an ignored interface does not count, also where it carries the path")
    func ignored() {
        #expect(condition(ignoring: ["eth*"]).match(Self.both) == "wlan0")
        #expect(condition(ignoring: ["wlan*"]).match(Self.both) == "eth0")
        #expect(condition(ignoring: ["eth*", "wl*"]).match(Self.both) == nil)
        #expect(condition(ignoring: ["wlan*"]).match(Self.wireless) == nil)
        #expect(condition(.wifi, ignoring: ["eth*"]).match(Self.both) == "wlan0")
        #expect(condition(.wired, ignoring: ["eth*"]).match(Self.both) == nil)
        #expect(condition(.unreachable, ignoring: ["eth*"]).match(Self.both) == nil)
        #expect(condition(.unreachable, ignoring: ["eth*", "wl*"]).match(Self.both) == "")
        #expect(condition(.unreachable, ignoring: ["eth*"]).match(Self.neither) == "")
        // A loss that is held back is not certain.
        var grace = Self.neither
        grace.status = .wired
        #expect(condition(.unreachable, ignoring: ["eth*"]).match(grace) == nil)
    }

    @Test("UPL-204 the internet counts over the path in use, through the interfaces that are named")
    func internet() {
        func match(_ state: InternetState?, _ condition: WaitCondition) -> String? {
            condition.match(Report(.wiredAndWiFi, internet: state))
        }
        #expect(match(.full, condition(.internet)) == "eth0")
        for state in [nil, InternetState.unknown, InternetState.none, .limited, .portal] {
            #expect(match(state, condition(.internet)) == nil)
        }
        #expect(match(.full, condition(.internet, ["wlan0", "eth0"])) == "eth0")
        #expect(match(.full, condition(.internet, ["wlan0"])) == nil)
        #expect(match(.full, condition(.internet, ignoring: ["wl*"])) == "eth0")
        #expect(match(.full, condition(.internet, ignoring: ["eth*"])) == nil)
        #expect(condition(.internet).match(Report(.unplugged, internet: .full)) == nil)
    }

    @Test("UPL-440 The internet behind a named interface counts, whether the kernel prefers it or not")
    func internetElsewhere() {
        var report = Report(.wiredAndWiFi, internet: .limited)
        func find(_ states: InternetState...) {
            report.internet = states[0]
            report.uplinks = zip(["eth0", "wlan0"], states).map { name, state in
                UplinkInternet(
                    interface: name, isPreferred: name == "eth0", InternetAnswer(state, "evidence"), wall: 0,
                    boot: 0)
            }
        }
        find(.limited, .full)
        #expect(condition(.internet, ["wlan0"]).match(report) == "wlan0")
        #expect(condition(.internet, ["eth0", "wlan0"]).match(report) == "wlan0")
        #expect(condition(.internet, ignoring: ["eth*"]).match(report) == "wlan0")
        // Without names it is the path in use.
        #expect(condition(.internet).match(report) == nil)
        let both = condition(.internet, ["eth0", "wlan0"], all: true)
        #expect(both.match(report) == nil)
        find(.full, .full)
        #expect(both.match(report) == "eth0 wlan0")
        find(.full, .portal)
        #expect(condition(.internet, ["wlan0"]).match(report) == nil)
        // A finding that is older than the loss of the link.
        find(.full, .full)
        report.links = Report(.wiredAndWiFi.with("wlan0", carrier: false)).links
        #expect(condition(.internet, ["wlan0"]).match(report) == nil)
        #expect(condition(.internet, ["wlan0"]).asked == ["wlan0"])
        #expect(condition(.reachable, ["wlan0"]).asked == [])
    }

    @Test("UPL-205 terms that contradict each other are found")
    func conflicts() throws {
        let none = WaitLimits()
        let pattern = try #require(InterfacePattern("eth*"))
        #expect(condition(all: true).conflict(none) == .allOfNone)
        #expect(
            condition(.wired, ["wlan0", "eth0"], ignoring: ["wg*", "eth*"]).conflict(none)
                == .ignoresNamed("eth0", pattern))
        #expect(condition(.internet, ["a", "b"], all: true).conflict(none) == nil)
        #expect(
            condition(.unreachable).conflict(WaitLimits(noCarrier: .seconds(1))) == .carrierForUnreachable)
        #expect(condition(.reachable, ["a", "b"], all: true, ignoring: ["c*"]).conflict(none) == nil)
    }

    @Test("UPL-201 the words for people")
    func words() {
        let limits = WaitLimits(noCarrier: .seconds(10))
        #expect(condition(.wifi, ["a", "b", "c"]).words == "reachable by Wi-Fi through a, b or c")
        #expect(condition(.internet, ["a"], all: true).words == "connected to the internet through a")
        let ignoring = condition(ignoring: ["docker*", "veth?"])
        #expect(ignoring.words == "reachable (docker*, veth? ignored)")
        #expect(ignoring.withoutCarrier(limits) == "gave up after 10 s without a carrier on any link")
        #expect(
            condition(.wired, ["a", "b"], all: true).withoutCarrier(limits)
                == "gave up after 10 s without a carrier on a and b")
    }
}
