// SPDX-License-Identifier: Apache-2.0

import Glibc
import Reachability
import ReachabilityCore
import Testing

@Suite("What is remembered")
struct KernelCacheTests {
    private let link = LinkState(index: 2, name: "eth0")
    private let address = InterfaceAddress(interface: 2, address: IPAddress(v4: 1), prefixLength: 24)

    private var filled: KernelCache {
        let cache = KernelCache()
        cache.store(.link(2), .link(link))
        cache.store(.links, .links([link]))
        cache.store(.device(2, name: "eth0"), .device(DeviceFacts()))
        cache.store(.addresses, .addresses([address]))
        cache.store(.wireless(2), .failure(ENODEV))
        return cache
    }

    private func held(_ cache: KernelCache) -> [Bool] {
        [.link(2), .links, .device(2, name: "eth0"), .addresses, .wireless(2)].map { cache[$0] != nil }
    }

    @Test("each event makes forget what it may have changed, and nothing else")
    func events() throws {
        let prefix = try #require(IPPrefix("0.0.0.0/0"))
        let cases: [(NetworkEvent, [Bool])] = [
            (.routeAdded(prefix), [true, true, true, true, true]),
            (.routeRemoved(prefix), [true, true, true, true, true]),
            (.ruleChanged(.ipv4), [true, true, true, true, true]),
            (.nexthopChanged(1), [true, true, true, true, true]),
            (.settingChanged(.ipv4), [true, true, true, true, true]),
            (.linkChanged(link, isWirelessNoise: true), [true, true, true, true, true]),
            (.linkChanged(link, isWirelessNoise: false), [false, false, false, true, false]),
            (.linkRemoved(index: 2), [false, false, false, true, false]),
            (.addressAdded(address), [true, true, true, false, true]),
            (.addressRemoved(address), [true, true, true, false, true]),
            (.wirelessChanged(index: 2), [false, false, false, true, false]),
            (.overrun, [false, false, false, false, false]),
            (.reopened, [false, false, false, false, false]),
            (.resumed(after: .seconds(9)), [false, false, false, false, false]),
            (.requested, [false, false, false, false, false]),
        ]
        for (event, expected) in cases {
            let cache = filled
            #expect(held(cache) == [true, true, true, true, true])
            cache.invalidate(after: event)
            #expect(held(cache) == expected, "\(event)")
        }
    }

    @Test("UPL-235 a lease is read again after events of links and addresses, and not by itself after routes")
    func leases() throws {
        let (everything, some) = (try #require(IPPrefix("0.0.0.0/0")), try #require(IPPrefix("192.0.2.0/24")))
        let question = KernelQuestion.lease(2, name: "eth0")
        let cases: [(NetworkEvent, isKept: Bool)] = [
            (.routeAdded(some), true), (.routeAdded(everything), true), (.routeRemoved(everything), true),
            (.ruleChanged(.ipv4), true), (.linkChanged(link, isWirelessNoise: true), true),
            (.linkChanged(link, isWirelessNoise: false), false), (.addressAdded(address), false),
            (.addressRemoved(address), false), (.requested, false), (.overrun, false),
        ]
        for (event, isKept) in cases {
            let cache = filled
            cache.store(question, .meteredLease(nil))
            cache.invalidate(after: event)
            #expect((cache[question] != nil) == isKept, "\(event)")
        }
    }

    @Test(
        "API-573 an event about a link replaces its answers; after a loss, and of a bridge's port, it does not"
    )
    func changedLink() {
        var dark = link
        dark.flags = [.up]
        let event = NetworkEvent.linkChanged(dark, isWirelessNoise: false)
        let cache = filled
        cache.apply([event])
        #expect(cache[.link(2)] == .link(dark))
        #expect(cache[.links] == .links([dark]))
        #expect(held(cache) == [true, true, true, true, true])
        cache.apply([.linkRemoved(index: 2)])
        #expect(cache[.links] == .links([]))
        #expect(held(cache) == [false, true, false, true, false])
        var port = dark
        port.bridgePortState = .forwarding
        let doubtful: [[NetworkEvent]] = [
            [.overrun, event], [event, .overrun], [.linkChanged(port, isWirelessNoise: false)],
        ]
        for events in doubtful {
            let cache = filled
            cache.apply(events)
            #expect(cache[.link(2)] == nil, "\(events)")
            #expect(cache[.links] == nil, "\(events)")
        }
    }

    @Test(
        "API-574 a link that is new or another one has everything asked for again; a port has its bridge's ports"
    )
    func devices() {
        var renamed = link
        renamed.name = "wan"
        var tunnel = link
        tunnel.kind = "gre"
        for other in [renamed, tunnel, LinkState(index: 3, name: "eth1")] {
            let cache = filled
            cache.apply([.linkChanged(other, isWirelessNoise: false)])
            #expect(held(cache) == [false, false, false, true, false])
        }
        let ports = KernelQuestion.ports(master: 7)
        var enslaved = link
        enslaved.master = 7
        for (before, after) in [([link], link), ([], enslaved), ([enslaved], enslaved)] {
            let cache = filled
            cache.store(ports, .links(before))
            cache.apply([.linkChanged(after, isWirelessNoise: false)])
            #expect(cache[ports] == nil)
        }
        let cache = filled
        cache.store(ports, .links([]))
        cache.store(.linkNamed("eth0"), .link(link))
        cache.apply([.linkChanged(link, isWirelessNoise: false)])
        #expect(cache[ports] == .links([]))
        #expect(cache[.linkNamed("eth0")] == nil)
    }

    @Test("the state of a Wi-Fi interface and passing failures are never remembered")
    func neverRemembered() {
        let cache = KernelCache()
        let route = KernelQuestion.route(RouteLookup(destination: IPAddress(v4: 1)))
        for errno in [EINTR, EAGAIN, ENOMEM, ENOBUFS, EBADMSG] {
            cache.store(route, .failure(errno))
            cache.store(.link(3), .failure(errno))
            #expect(cache[route] == nil)
            #expect(cache[.link(3)] == nil)
        }
        cache.store(.wireless(3), .wireless(WirelessState(mode: 2)))
        #expect(cache[.wireless(3)] == nil)
        cache.store(.link(3), .failure(ENODEV))
        #expect(cache[.link(3)] == .failure(ENODEV))
    }

    @Test("what was said about routes holds over changes of the other family's routes, and over nothing else")
    func routes() throws {
        let lookup = KernelQuestion.route(RouteLookup(destination: IPAddress(v4: 1)))
        let other = KernelQuestion.route(RouteLookup(destination: IPAddress(v6High: 1, low: 1)))
        let ipv4 = try #require(IPPrefix("0.0.0.0/0"))
        let ipv6 = try #require(IPPrefix("::/0"))
        let cases: [(NetworkEvent, [Bool])] = [
            (.routeAdded(ipv4), [false, true]), (.routeRemoved(ipv4), [false, true]),
            (.routeAdded(ipv6), [true, false]), (.routeRemoved(ipv6), [true, false]),
            (.linkChanged(link, isWirelessNoise: false), [false, false]),
            (.linkChanged(link, isWirelessNoise: true), [false, false]),
            (.linkRemoved(index: 2), [false, false]), (.addressAdded(address), [false, false]),
            (.addressRemoved(address), [false, false]), (.ruleChanged(.ipv4), [false, false]),
            (.settingChanged(.ipv4), [false, false]), (.settingChanged(.ipv6), [false, false]),
            (.nexthopChanged(1), [false, false]), (.wirelessChanged(index: 2), [false, false]),
            (.overrun, [false, false]), (.reopened, [false, false]), (.destinationsChanged, [false, false]),
            (.resumed(after: .seconds(9)), [false, false]), (.requested, [false, false]),
        ]
        for (event, expected) in cases {
            let cache = KernelCache()
            cache.store(lookup, .failure(ENETUNREACH))
            cache.store(other, .failure(EHOSTUNREACH))
            cache.invalidate(after: event)
            #expect([cache[lookup] != nil, cache[other] != nil] == expected, "\(event)")
        }
        let cache = KernelCache()
        cache.store(lookup, .failure(ENETUNREACH))
        cache.forgetRoutes()
        #expect(cache[lookup] == nil)
    }

    @Test("a lookup that is bound to a link holds over changes of routes through another link alone")
    func boundLookups() throws {
        let prefix = try #require(IPPrefix("0.0.0.0/0"))
        let destination = IPAddress(v4: 1)
        let free = KernelQuestion.route(RouteLookup(destination: destination))
        let bound = KernelQuestion.route(RouteLookup(destination: destination, interface: 2))
        let legs = [RouteAnswer.Leg(interface: 2), RouteAnswer.Leg(interface: 3)]
        let plain = KernelAnswer.route(RouteAnswer(kind: .unicast, interface: 2))
        let several = KernelAnswer.route(RouteAnswer(kind: .unicast, legs: legs))
        let vrf = LinkState(index: 9, name: "blue", kind: "vrf")
        let cases: [(Int32?, KernelAnswer, [LinkState]?, Bool)] = [
            (3, plain, [link], true), (3, .failure(EHOSTUNREACH), [link], true), (2, plain, [link], false),
            (nil, plain, [link], false), (3, several, [link], false), (3, plain, [link, vrf], false),
            (3, plain, nil, false),
        ]
        for (interface, answer, links, expected) in cases {
            for event in [
                NetworkEvent.routeAdded(prefix, through: interface),
                .routeRemoved(prefix, through: interface),
            ] {
                let cache = KernelCache()
                cache.store(free, plain)
                cache.store(bound, answer)
                if let links { cache.store(.links, .links(links)) }
                cache.invalidate(after: event)
                #expect(cache[free] == nil)
                #expect((cache[bound] != nil) == expected, "\(event) \(answer)")
            }
        }
    }

    @Test("a route that expires is asked for again: it says how long it has left")
    func expiring() {
        let cache = KernelCache()
        let question = KernelQuestion.route(RouteLookup(destination: IPAddress(v6High: 1, low: 1)))
        cache.store(question, .route(RouteAnswer(kind: .unicast, interface: 2, expires: 60)))
        #expect(cache[question] == nil)
        cache.store(question, .route(RouteAnswer(kind: .unicast, interface: 2, expires: 0)))
        #expect(cache[question] != nil)
    }
}
