// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore
import TestSupport
import Testing

/// Halves of the address space that have other routes, and what a link says of its addresses.
struct HalvesTests {
    /// The path and the reports on links, from the answers that the path has asked for.
    private func examine(
        _ network: FakeNetwork, _ evaluator: PathEvaluator = .general
    ) -> (path: ReachabilityPath, links: [LinkReport])? {
        var snapshot = Snapshot()
        var path: ReachabilityPath?
        for _ in 0..<40 where path == nil {
            switch evaluator.evaluate(snapshot) {
            case .path(let found, _): path = found
            case .needs(let questions):
                for question in questions { snapshot.add(question, network.answer(question)) }
            }
        }
        for _ in 0..<40 {
            switch LinkReporter(evaluator: evaluator).report(snapshot) {
            case .reports(let links): return path.map { ($0, links) }
            case .needs(let questions):
                for question in questions { snapshot.add(question, network.answer(question)) }
            }
        }
        return nil
    }

    // By the order in which they are added.
    private let eth0: Int32 = 2
    private let eth1: Int32 = 3

    private func network(_ change: (inout FakeNetwork) -> Void) -> FakeNetwork {
        var network = FakeNetwork()
        network.addLink("eth0")
        network.addLink("eth1")
        network.addAddress("192.0.2.2/24", to: eth0)
        network.addAddress("198.51.100.2/24", to: eth1)
        change(&network)
        return network
    }

    @Test("RS-064 a link with a route for the upper half alone is online, as the path over it is")
    func upperHalf() throws {
        let network = network { $0.addRoute("128.0.0.0/1", via: "192.0.2.1", on: eth0) }
        let found = try #require(examine(network))
        #expect(found.path.isOnline && found.path.isPartial && found.path.interface == "eth0")
        let link = try #require(found.links.first)
        #expect(link.isOnline && link.reason.sentence == found.path.reason.sentence)
        #expect(found.links.last?.isOnline == false)
        var configuration = ReachabilityConfiguration()
        configuration.requirement = .interface("eth0")
        let via = network.evaluate(
            PathEvaluator(
                target: .general(sentinels: configuration.sentinels), configuration: configuration))
        #expect(via.isOnline && via.isPartial)
        configuration.requirement = .interface("eth1")
        let other = network.evaluate(
            PathEvaluator(
                target: .general(sentinels: configuration.sentinels), configuration: configuration))
        #expect(!other.isOnline)
    }

    @Test(
        "FLD-101 beside a default route, a lower half that is refused or lost makes the path partial",
        arguments: [RouteAnswer.Kind.blackhole, .prohibit, .unreachable])
    func refusedHalf(kind: RouteAnswer.Kind) throws {
        let network = network {
            $0.addRoute("0.0.0.0/0", via: "192.0.2.1", on: eth0)
            $0.addRoute("0.0.0.0/1", kind: kind)
        }
        let found = try #require(examine(network))
        #expect(found.path.isOnline && found.path.isPartial && found.path.interface == "eth0")
        #expect(found.links.first?.isOnline == true, "\(found.links)")
    }

    @Test("FLD-101 a half whose link is dead makes the path partial, whichever half it is")
    func deadHalf() throws {
        for (alive, dead) in [("0.0.0.0/1", "128.0.0.0/1"), ("128.0.0.0/1", "0.0.0.0/1")] {
            var network = network { $0.addRoute(alive, via: "192.0.2.1", on: eth0) }
            let usb = network.addLink("usb0", up: false)
            network.addAddress("203.0.113.2/24", to: usb)
            network.addRoute(dead, via: "203.0.113.1", on: usb)
            let path = try #require(examine(network)).path
            #expect(path.isOnline && path.isPartial && path.interface == "eth0", "\(alive) \(path)")
        }
        let whole = network {
            $0.addRoute("0.0.0.0/1", via: "192.0.2.1", on: eth0)
            $0.addRoute("128.0.0.0/1", via: "198.51.100.1", on: eth1)
        }
        #expect(try #require(examine(whole)).path.isPartial == false)
    }

    @Test("FLD-102 a link-local host is reached by its interface alone")
    func linkLocalHost() {
        var network = FakeNetwork()
        let eth0 = network.addLink("eth0")
        network.addAddress("fe80::2/64", to: eth0)
        let path = network.evaluate(.host("fe80::1"))
        #expect(!path.isOnline && path.reason.code == .noRoute)
        #expect(
            path.reason.sentence == "fe80::1 is a link-local address: name its interface, as in fe80::1%eth0")
        #expect(network.evaluate(.host("fe80::1%eth0")).isOnline)
    }

    @Test("FLD-103 the reason names the address that another device uses, or that is being checked")
    func unusableAddresses() {
        for (flags, sentence) in [
            ([.duplicate, .tentative], "eth0: 2001:db8::2/64 is also used by another device on the link"),
            ([.tentative], "eth0: 2001:db8::2/64 is still being checked for duplicates"),
        ] as [(InterfaceAddress.Flags, String)] {
            var network = FakeNetwork()
            let eth0 = network.addLink("eth0")
            network.addAddress("fe80::2/64", to: eth0)
            network.addAddress("2001:db8::2/64", to: eth0, flags: flags)
            network.addRoute("::/0", via: "fe80::1", on: eth0)
            let path = network.evaluate(.general)
            #expect(path.reason.code == .noAddress && path.reason.sentence == sentence)
        }
    }

    @Test("FLD-103 a link with an IPv4 address and an IPv6 router lacks a route, and not DHCP")
    func otherFamily() {
        var network = FakeNetwork()
        let eth0 = network.addLink("eth0")
        network.addAddress("fe80::2/64", to: eth0)
        network.addAddress("192.0.2.2/24", to: eth0)
        network.addRoute("::/0", via: "fe80::1", on: eth0)
        let path = network.evaluate(.general)
        #expect(path.reason.code == .noRoute && path.reason.interface == "eth0")
        #expect(path.reason.sentence == "eth0 has carrier and 192.0.2.2/24 but no default route")
    }
}
