// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// Destinations with several hosts: multicast and broadcast addresses.
struct SeveralReceiversTests {
    private static func network(_ prefix: String, _ kind: RouteAnswer.Kind, source: String) -> FakeNetwork {
        var network = FakeNetwork()
        let eth0 = network.addLink("eth0")
        network.addAddress(source, to: eth0)
        network.addRoute(prefix, on: eth0, kind: kind)
        return network
    }

    @Test(
        "FLD-010 a multicast or broadcast address is reached through the link that leads to it",
        arguments: [
            ("224.0.0.251", "224.0.0.0/4", RouteAnswer.Kind.multicast, "192.0.2.2/24"),
            ("224.0.0.251", "224.0.0.0/4", .multicast, "169.254.7.7/16"),
            ("255.255.255.255", "0.0.0.0/0", .broadcast, "192.0.2.2/24"),
            ("192.0.2.255", "192.0.2.255/32", .broadcast, "192.0.2.2/24"),
            ("239.1.2.3", "0.0.0.0/0", .multicast, "192.0.2.2/24"),
            ("ff02::fb", "ff00::/8", .multicast, "fe80::2/64"),
            ("ff02::fb%eth0", "ff00::/8", .multicast, "fe80::2/64"),
            ("ff12::1%eth0", "ff00::/8", .multicast, "fe80::2/64"),
        ])
    func reached(_ host: String, _ prefix: String, _ kind: RouteAnswer.Kind, _ source: String) {
        let path = Self.network(prefix, kind, source: source).evaluate(.host(host))
        #expect(path.isOnline, "\(path.reason)")
        #expect(path.interface == "eth0")
    }

    @Test("FLD-010 without a route there is none, and beyond the link a link-local address does not do")
    func notReached() {
        #expect(!FakeNetwork().evaluate(.host("224.0.0.251")).isOnline)
        let site = Self.network("ff00::/8", .multicast, source: "fe80::2/64").evaluate(.host("ff05::2"))
        #expect(site.reason.code == .linkLocalOnly)
    }

    @Test("FLD-010 to anywhere such a route leads not")
    func general() {
        #expect(!Self.network("0.0.0.0/0", .multicast, source: "192.0.2.2/24").evaluate(.general).isOnline)
    }

    @Test(
        "FLD-080 an address is the one that connect(2) goes to, and brackets have the zone of a URL",
        arguments: [
            ("::ffff:192.0.2.9", "192.0.2.9"), ("[::FFFF:c000:209]", "192.0.2.9"), ("::", "::1"),
            ("[::]", "::1"), ("::1", "::1"), ("0.0.0.0", "0.0.0.0"), ("::192.0.2.9", "::c000:209"),
            ("[fe80::1%25eth0]", "fe80::1%eth0"), ("[fe80::1%eth0]", "fe80::1%eth0"),
            ("fe80::1%25eth0", "fe80::1%25eth0"), ("[fe80::1%25]", "fe80::1%25"),
            ("[fe80::1%2525]", "fe80::1%25"),
        ])
    func connectedAddresses(_ given: String, _ text: String) {
        #expect(ReachabilityDestination(given)?.text == text)
    }

    @Test("FLD-080 an IPv4-mapped address follows the IPv4 route") func mapped() {
        let path = FakeNetwork.wired.evaluate(.host("::ffff:203.0.113.9"))
        #expect(path.interface == "eth0" && path.hasIPv4 && !path.hasIPv6)
        #expect(!FakeNetwork.wired.evaluate(.host("2001:db8::9")).isOnline)
    }

    @Test(
        "FLD-081 with the loopback link switched off this machine is unreachable for itself",
        arguments: ["127.0.0.1", "192.0.2.2"])
    func loopbackSwitchedOff(_ host: String) {
        var network = FakeNetwork.wiredAndWiFi
        #expect(network.evaluate(.host(host)).reason.code == .local)
        network.change(1) { $0.flags = .loopback }
        let path = network.evaluate(.host(host))
        #expect(path.instantStatus == .unreachable && path.alternative == nil)
        #expect(path.reason.sentence.contains("lo"), "\(path.reason)")
        #expect(path.reason.interface == "lo")
        #expect(network.evaluate(.general).instantStatus == .wired)
    }

    @Test("FLD-010 a zone belongs to addresses that stay on the link, and to no others")
    func zones() {
        for text in ["fe80::1%eth0", "ff02::fb%eth0", "ff01::1%lo", "ff32::8000:1%eth0"] {
            #expect(ReachabilityDestination(text)?.zone != nil, "\(text)")
        }
        for text in ["2001:db8::1%eth0", "ff05::2%eth0", "ff0e::1%eth0", "224.0.0.251%eth0"] {
            #expect(ReachabilityDestination(text) == nil, "\(text)")
        }
    }
}
