// SPDX-License-Identifier: Apache-2.0

package import ReachabilityCore

extension FakeNetwork {
    /// eth0 with 192.0.2.2/24 and a default route through it (metric 100).
    package static var wired: FakeNetwork {
        var network = FakeNetwork()
        let eth0 = network.addLink("eth0")
        network.addAddress("192.0.2.2/24", to: eth0)
        network.addRoute("0.0.0.0/0", via: "192.0.2.1", on: eth0, metric: 100)
        return network
    }

    /// As `wired`, with an associated wlan0, 198.51.100.2/24 and a default route of metric 600 beside it.
    package static var wiredAndWiFi: FakeNetwork {
        var network = FakeNetwork.wired
        let wlan0 = network.addLink("wlan0")
        network.wireless[wlan0] = WirelessState(
            mode: 2, ssid: "lab", accessPoint: [2, 0, 0, 0, 0, 1], signal: -50)
        network.devices[wlan0] = DeviceFacts(type: "wlan", hasPhy80211: true)
        network.addAddress("198.51.100.2/24", to: wlan0)
        network.addRoute("0.0.0.0/0", via: "198.51.100.1", on: wlan0, metric: 600)
        return network
    }

    /// The index of a link by its name; 0 if there is none.
    package func index(_ name: String) -> Int32 { links.first { $0.name == name }?.index ?? 0 }
}

extension PathEvaluator {
    /// An evaluator for anywhere with the default sentinels.
    package static var general: PathEvaluator {
        PathEvaluator(
            target: .general(sentinels: ReachabilityConfiguration.defaultSentinels), configuration: .init())
    }

    /// An evaluator for one literal address.
    package static func host(_ text: String) -> PathEvaluator {
        PathEvaluator(
            target: .host([ReachabilityDestination(text)].compactMap { $0 }), configuration: .init())
    }
}
