// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore
import Testing

/// What of a probe's findings is news.
struct InternetFindingsTests {
    private static func uplink(
        _ name: String, _ state: InternetState, _ reason: String = "", portal: String? = nil,
        isPreferred: Bool = false
    ) -> UplinkInternet {
        UplinkInternet(
            interface: name, isPreferred: isPreferred,
            InternetAnswer(state, reason, portalURL: portal.flatMap { URL(string: $0) }), wall: 0, boot: 0)
    }

    private static let eth0 = uplink("eth0", .full, "204", isPreferred: true)

    private static func findings(_ others: UplinkInternet...) -> InternetFindings {
        InternetFindings(.full, uplinks: [eth0] + others)
    }

    @Test(
        "UPL-321 another state, address, uplink or preference is news, and other evidence alone is none",
        arguments: [
            (findings(uplink("wlan0", .portal, "511", portal: "http://a.example/")), false),
            (findings(uplink("wlan0", .limited, "302", portal: "http://a.example/")), true),
            (findings(uplink("wlan0", .portal, "302", portal: "http://b.example/")), true),
            (findings(uplink("wlan0", .portal, "302")), true),
            (findings(uplink("wlan1", .portal, "302", portal: "http://a.example/")), true),
            (findings(uplink("wlan0", .portal, "302", portal: "http://a.example/", isPreferred: true)), true),
            (findings(), true),
            (findings(uplink("wlan0", .portal, "302", portal: "http://a.example/"), eth0), true),
        ])
    func difference(_ other: InternetFindings, _ isNews: Bool) {
        let known = Self.findings(Self.uplink("wlan0", .portal, "302", portal: "http://a.example/"))
        #expect(known.differs(from: other) == isNews)
        #expect(other.differs(from: known) == isNews)
        #expect(!other.differs(from: other))
        var elsewhere = other
        elsewhere.state = .limited
        #expect(elsewhere.differs(from: other))
        elsewhere = other
        elsewhere.portalURL = URL(string: "http://c.example/")
        #expect(elsewhere.differs(from: other))
    }

    @Test("UPL-322 changes are those of uplinks that are known, with their addresses to sign in")
    func changes() {
        let portal = Self.findings(Self.uplink("wlan0", .portal, portal: "http://a.example/"))
        let moved = Self.findings(Self.uplink("wlan0", .portal, portal: "http://b.example/"))
        let unknown = Self.findings(Self.uplink("wlan0", .unknown))
        #expect(portal.changes(since: nil).map(\.interface) == ["eth0", "wlan0"])
        #expect(unknown.changes(since: nil).map(\.interface) == ["eth0"])
        #expect(unknown.changes(since: portal).map(\.interface) == ["wlan0"])
        #expect(moved.changes(since: portal).map(\.interface) == ["wlan0"])
        #expect(portal.changes(since: portal).isEmpty)
    }

    @Test("UPL-323 findings are complete when each uplink was asked, or is not to be")
    func complete() {
        #expect(!InternetFindings().isComplete)
        #expect(InternetFindings(.full).isComplete)
        #expect(!Self.findings(Self.uplink("wlan0", .unknown)).isComplete)
        #expect(Self.findings(Self.uplink("wwan0", .unknown, "not asked: its traffic costs")).isComplete)
        #expect(Self.findings(Self.uplink("wlan0", .limited)).isComplete)
    }
}
