// SPDX-License-Identifier: Apache-2.0

import SessionCore
import Testing

@testable import Outbox

/// What goes without TLS while the preferred line has a portal and another uplink has internet.
struct PlainUplinkTests {
    private static func findings(_ state: InternetState, _ others: (String, InternetState)...)
        -> InternetFindings
    {
        let preferred = UplinkInternet(
            interface: "eth0", isPreferred: true, InternetAnswer(state), wall: 0, boot: 0)
        return InternetFindings(
            state,
            uplinks: [preferred]
                + others.map { UplinkInternet(interface: $0, InternetAnswer($1), wall: 0, boot: 0) })
    }

    @Test(
        "UPL-272 Without TLS another uplink with internet is taken where the preferred one has a portal or no path"
    )
    func uplink() {
        for state in [InternetState.portal, .none] {
            #expect(PlainHolds.uplink(Self.findings(state, ("wwan0", .limited), ("wlan0", .full))) == "wlan0")
            #expect(!PlainHolds.holds(Self.findings(state, ("wlan0", .full))))
            let reason = PlainHolds.reason(Self.findings(state, ("wlan0", .full)))
            #expect((reason?.contains("only wlan0 is used") == true) == (state == .portal))
        }
        // The answer about a path that is not known yet comes within seconds.
        #expect(PlainHolds.uplink(Self.findings(.unknown, ("wlan0", .full))) == nil)
        #expect(PlainHolds.holds(Self.findings(.unknown, ("wlan0", .full))))
        // `limited` may be the fault of the probe's server.
        for state in [InternetState.limited, .full] {
            #expect(PlainHolds.uplink(Self.findings(state, ("wlan0", .full))) == nil)
            #expect(!PlainHolds.holds(Self.findings(state, ("wlan0", .full))))
        }
        #expect(PlainHolds.uplink(nil) == nil && !PlainHolds.holds(nil))
    }

    @Test("UPL-273 Portals on both uplinks hold it, and so does a wanted kind of network")
    func held() {
        let both = Self.findings(.portal, ("wlan0", .portal), ("wwan0", .limited))
        #expect(PlainHolds.uplink(both) == nil && PlainHolds.holds(both))
        #expect(PlainHolds.reason(both)?.contains("portal") == true)
        let one = Self.findings(.portal, ("wlan0", .full))
        for condition in NetworkCondition.allCases where condition != .any && condition != .internet {
            #expect(
                PlainHolds.uplink(one, condition) == nil && PlainHolds.holds(one, condition), "\(condition)")
        }
    }

    @Test("UPL-274 An answer counts as that of the uplink which carried it")
    func doubt() {
        let delivered = DeliveryVerdict.delivered(statusCode: 200)
        let findings = Self.findings(.portal, ("wlan0", .full), ("wwan0", .portal))
        #expect(PlainHolds.doubt(delivered, findings, over: ["wlan0"]) == delivered)
        #expect(PlainHolds.doubt(delivered, findings, over: ["wwan0"]) != delivered)
        #expect(PlainHolds.doubt(delivered, findings) != delivered)
        // The uplink is gone: nothing says that a portal has answered.
        #expect(PlainHolds.doubt(delivered, findings, over: ["usb0"]) == delivered)
    }

    @Test("UPL-428 Who asks for the internet may use the uplink that has it, the free one first")
    func internet() {
        for state in [InternetState.portal, .none] {
            let found = Self.findings(state, ("wlan0", .full))
            #expect(PlainHolds.uplink(found, .internet) == "wlan0" && !PlainHolds.holds(found, .internet))
            #expect(PlainHolds.holds(Self.findings(state, ("wlan0", .limited)), .internet))
        }
        var found = Self.findings(.portal, ("wwan0", .full), ("wlan0", .full))
        found.uplinks[1].traits.isExpensive = true
        #expect(PlainHolds.uplink(found) == "wlan0")
        #expect(PlainHolds.uplink(Self.findings(.portal, ("wwan0", .full), ("wlan0", .full))) == "wwan0")
    }

    @Test("UPL-429 An answer is doubted by the uplink that carried it, not by the path in use")
    func carriers() {
        let delivered = DeliveryVerdict.delivered(statusCode: 200)
        func isDoubted(_ findings: InternetFindings, _ carriers: [String]?) -> Bool {
            PlainHolds.doubt(delivered, findings, over: carriers) != delivered
        }
        // The path in use is full, and the exchange has left its dead line for a portal.
        let moved = Self.findings(.full, ("wlan0", .portal))
        #expect(isDoubted(moved, ["wlan0"]) && !isDoubted(moved, ["eth0"]))
        // Two networks with one address, and an address that is gone.
        #expect(isDoubted(moved, ["eth0", "wlan0"]) && isDoubted(moved, []) && isDoubted(moved, nil))
        // A tunnel's interface is no uplink, and no portal answers in it.
        #expect(!isDoubted(moved, ["wg0"]) && !isDoubted(Self.findings(.portal, ("wlan0", .full)), ["wlan0"]))
        #expect(isDoubted(InternetFindings(.portal), ["eth0"]) && !isDoubted(InternetFindings(.full), nil))
        #expect(PlainHolds.hasPortal(moved) && !PlainHolds.hasPortal(Self.findings(.none, ("wlan0", .full))))
        #expect(!PlainHolds.hasPortal(nil))
    }

    @Test("UPL-430 This machine's own addresses name no uplink, and neither does an address that no link has")
    func addresses() {
        for address in ["127.0.0.1", "::1", "192.0.2.77", "", "eth0"] {
            #expect(LocalInterfaces.holding(address).isEmpty, "\(address)")
        }
    }

    @Test(
        "UPL-275 Servers on a link or in a private network are not behind each uplink",
        arguments: [
            ("example.com", true), ("198.51.100.7", true), ("2001:db8::7", true), ("[2001:db8::7]", true),
            ("172.32.0.1", true), ("100.128.0.1", true), ("10.1.2.3", false), ("172.31.0.1", false),
            ("192.168.1.1", false), ("100.64.0.1", false), ("169.254.1.1", false), ("127.0.0.1", false),
            ("fe80::1", false), ("[fd00::1]", false), ("printer", false), ("Printer.LOCAL", false),
            ("nas.lan", false), ("nas.home.arpa", false), ("a.localhost", false),
        ])
    func hosts(host: String, isBehind: Bool) { #expect(PlainHolds.isBehindEveryUplink(host) == isBehind) }
}
