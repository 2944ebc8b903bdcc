// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// The physical medium of a path: through ports, stacked devices and tunnels.
struct PhysicalMediumTests {
    /// A new link with the preferred default route.
    private static func upon(
        _ kind: String?, lower: String? = nil, hardwareType: UInt16 = 1,
        in start: FakeNetwork = .wiredAndWiFi,
        _ body: (inout FakeNetwork, _ index: Int32) -> Void = { _, _ in }
    ) -> ReachabilityPath {
        var network = start
        let link = network.addLink(
            "x", kind: kind, hardwareType: hardwareType, lower: lower.map { start.index($0) })
        network.addAddress("203.0.113.2/24", to: link)
        network.addRoute("0.0.0.0/0", via: "203.0.113.1", on: link, metric: 1)
        body(&network, link)
        return network.evaluate(.general)
    }

    @Test func stackedLinkGoesByWhatLiesUnderneath() {
        #expect(Self.upon("vlan", lower: "wlan0").instantStatus == .wifi)
        #expect(Self.upon("vlan", lower: "eth0").instantStatus == .wired)
        #expect(Self.upon("macvlan", lower: "wlan0").ssid == "lab")
        // The index belongs to another namespace; the interface with that index here is a different one.
        let elsewhere = Self.upon("macvlan", lower: "wlan0") { $0.change($1) { $0.lowerIsElsewhere = true } }
        #expect(elsewhere.instantStatus == .wired)
    }

    @Test func bridgeIsWiFiOnlyWhereAllItsPortsAre() {
        func bridge(_ ports: String...) -> ReachabilityPath {
            Self.upon("bridge") { network, bridge in
                network.addLink("guest", kind: "veth")
                network.addLink("radio")
                network.addLink("lan")
                network.wireless[network.index("radio")] = WirelessState(mode: 2)
                for port in ports { network.change(network.index(port)) { $0.master = bridge } }
            }
        }
        #expect(bridge("wlan0").instantStatus == .wifi)
        #expect(bridge("wlan0", "radio").instantStatus == .wifi)
        #expect(bridge("eth0", "wlan0").instantStatus == .wired)
        #expect(bridge("wlan0", "lan").instantStatus == .wired, "whichever port comes first")
        #expect(bridge("wlan0", "guest").instantStatus == .wifi, "a cable to a guest does not lead out")
        #expect(bridge("guest").instantStatus == .wired)
    }

    @Test("a port that is an access point leads nobody out")
    func accessPointAmongPorts() {
        func bridge(_ mode: UInt32) -> ReachabilityPath {
            Self.upon("bridge") { network, bridge in
                let radio = network.addLink("radio", master: bridge)
                network.wireless[radio] = WirelessState(mode: mode)
                network.change(network.index("wlan0")) { $0.master = bridge }
                // An unusable port does not count either.
                network.addLink("lan1", kind: "bridge", master: bridge)
            }
        }
        #expect(bridge(3).instantStatus == .wifi)
        #expect(bridge(2).instantStatus == .wifi)
    }

    @Test("what is stacked upon a bridge without ports is as unusable as the bridge")
    func stackedUponAnEmptyBridge() {
        var network = FakeNetwork.wiredAndWiFi
        network.addLink("br0", kind: "bridge")
        for kind in ["vlan", "macvlan"] {
            #expect(Self.upon(kind, lower: "br0", in: network).reason.code == .noPorts)
        }
        network.change(network.index("wlan0")) { [br0 = network.index("br0")] in $0.master = br0 }
        #expect(Self.upon("vlan", lower: "br0", in: network).instantStatus == .wifi)
    }

    @Test("what the device says of itself")
    func deviceFacts() {
        func device(_ facts: DeviceFacts) -> ReachabilityPath {
            Self.upon(nil, in: .wired) { $0.devices[$1] = facts }
        }
        #expect(device(DeviceFacts(type: "wlan")).instantStatus == .wifi)
        #expect(device(DeviceFacts(hasPhy80211: true)).instantStatus == .wifi)
        #expect(device(DeviceFacts(hasWirelessExtensions: true)).instantStatus == .wifi)
        #expect(device(DeviceFacts()).instantStatus == .wired)
        let modem = device(DeviceFacts(type: "wwan"))
        #expect(modem.medium == .cellular)
        #expect(modem.isExpensive)
        let phone = device(DeviceFacts(type: "bluetooth"))
        #expect(phone.medium == .other)
        #expect(phone.isExpensive)
        let raw = Self.upon(nil, hardwareType: 519, in: .wired)
        #expect(raw.medium == .cellular)
        #expect(raw.isExpensive)
    }

    @Test("an expensive interface makes expensive what lies upon it")
    func expensive() {
        func isExpensive(_ names: Set<String>, _ network: FakeNetwork) -> Bool {
            var configuration = ReachabilityConfiguration()
            configuration.expensiveInterfaces = names
            return network.evaluate(
                PathEvaluator(
                    target: .general(sentinels: configuration.sentinels), configuration: configuration)
            ).isExpensive
        }
        #expect(isExpensive(["eth0"], .wired))
        #expect(!isExpensive(["eth1"], .wired))
        var tunnelled = FakeNetwork.wired
        let tunnel = tunnelled.addLink("wg0", kind: "wireguard", hardwareType: 0xFFFE)
        tunnelled.addAddress("10.8.0.2/24", to: tunnel)
        tunnelled.addRoute("0.0.0.0/0", on: tunnel, metric: 1)
        #expect(isExpensive(["wg0"], tunnelled))
        #expect(isExpensive(["eth0"], tunnelled))
        #expect(!isExpensive([], tunnelled))
    }
}
