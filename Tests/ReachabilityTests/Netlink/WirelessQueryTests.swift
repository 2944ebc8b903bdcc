// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityCore
import Testing

@Suite("Questions to nl80211")
struct WirelessQueryTests {
    private typealias Message = WirelessBytes.Message

    @Test("the name comes from the scan results if the interface has none")
    func scanResult() {
        let air = WirelessAir()
        air.connect(WirelessAir.first, "lab")
        #expect(
            air.state() == WirelessState(mode: 2, ssid: "lab", accessPoint: WirelessAir.first, signal: -42))
    }

    @Test("where the interface names the network, and in modes without a network, no scan results are read")
    func unneeded() {
        let air = WirelessAir()
        air.connect(WirelessAir.first, "scanned")
        air.ssid = "told"
        #expect(air.state()?.ssid == "told")
        air.ssid = nil
        for mode: UInt32 in [1, 3, 6] {
            air.mode = mode
            #expect(air.state() == WirelessState(mode: mode))
        }
        #expect(air.scans == 0)
    }

    @Test(
        "a driver without stations costs no dump with every question: delays double, events end them"
    )
    func noStations() {
        let air = WirelessAir()
        air.scan = { _, sequence in
            [.bytes(Message.scan(WirelessAir.first, status: 1, name: "lab", sequence: sequence).bytes)]
        }
        var read: [Int64] = []
        for clock in 0..<1000 as Range<Int64> {
            air.clock = clock
            let before = air.scans
            #expect(air.state() == WirelessState(mode: 2, ssid: "lab", accessPoint: WirelessAir.first))
            if air.scans > before { read.append(clock) }
        }
        #expect(read == [0, 100, 300, 700])
        let link = LinkState(index: 3, name: "wlan0")
        for (event, isNews) in [
            (.wirelessChanged(index: 3), true), (.linkChanged(link, isWirelessNoise: false), true),
            (.linkChanged(link, isWirelessNoise: true), false), (.wirelessChanged(index: 4), false),
            (.wirelessChanged(index: 0), true), (.linkRemoved(index: 3), true), (.requested, false),
            (.overrun, true), (.resumed(after: .seconds(3)), true), (.ruleChanged(.ipv4), false),
        ] as [(NetworkEvent, Bool)] {
            let before = air.scans
            air.query.handle(event)
            _ = air.state()
            #expect((air.scans > before) == isNews, "\(event)")
        }
    }

    @Test("the scan results are read once for each association, the signal every time")
    func caching() {
        let air = WirelessAir()
        air.connect(WirelessAir.first, "lab")
        for age: UInt32 in [1, 2, 9] {
            air.stations = [
                {
                    .station(
                        WirelessAir.first, signal: Int8(age), associatedAt: 7, connectedTime: age,
                        sequence: $0)
                }
            ]
            #expect(
                air.state()
                    == WirelessState(mode: 2, ssid: "lab", accessPoint: WirelessAir.first, signal: Int8(age)))
        }
        #expect(air.scans == 1)
        // A hidden name is read once as well.
        air.connect(WirelessAir.second, "")
        #expect(air.state() == WirelessState(mode: 2, accessPoint: WirelessAir.second, signal: -42))
        #expect(air.state()?.ssid == nil)
        #expect(air.scans == 2)
    }

    @Test("roaming shows in the access point, and the name is asked anew")
    func roaming() {
        let air = WirelessAir()
        air.connect(WirelessAir.first, "lab")
        #expect(air.state()?.accessPoint == WirelessAir.first)
        air.connect(WirelessAir.second, "lab")
        #expect(air.state()?.accessPoint == WirelessAir.second)
        #expect(air.scans == 2)
    }

    @Test("an access point that returns under another name is asked again")
    func renamed() {
        let air = WirelessAir()
        air.connect(WirelessAir.first, "old", associatedAt: 1)
        #expect(air.state()?.ssid == "old")
        air.connect(WirelessAir.first, "new", associatedAt: 2)
        #expect(air.state()?.ssid == "new")
        // Without a start time from the driver, a younger association is another one.
        air.connect(WirelessAir.first, "newer", associatedAt: nil, age: 100)
        #expect(air.state()?.ssid == "newer")
        air.connect(WirelessAir.first, "newest", associatedAt: nil, age: 1)
        #expect(air.state()?.ssid == "newest")
    }

    @Test("while a connection goes or comes, what is said of it stays; what comes then is asked anew")
    func lost() {
        let air = WirelessAir()
        air.connect(WirelessAir.first, "old", associatedAt: nil, age: 1)
        #expect(air.state()?.ssid == "old")
        air.stations = []
        #expect(air.state() == WirelessState(mode: 2, ssid: "old", accessPoint: WirelessAir.first))
        // Not associated yet.
        air.stations = [
            { .station(WirelessAir.second, isAssociated: false, sequence: $0) }
        ]
        #expect(air.state() == WirelessState(mode: 2, ssid: "old", accessPoint: WirelessAir.first))
        #expect(air.scans == 1)
        air.connect(WirelessAir.first, "new", associatedAt: nil, age: 9)
        #expect(air.state()?.ssid == "new")
        #expect(air.scans == 2)
    }

    @Test("a driver without stations: the access point is the scan result's")
    func withoutStations() {
        let air = WirelessAir()
        air.connect(WirelessAir.first, "lab")
        air.stations = []
        #expect(air.state() == WirelessState(mode: 2, ssid: "lab", accessPoint: WirelessAir.first))
    }
}
