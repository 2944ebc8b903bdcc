// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityCore
import Testing

@Suite("Recorded replies")
struct RouteAnswerTests {
    private func answer(_ title: String) throws -> RouteAnswer {
        let bytes = try #require(NetlinkRecording("replies").datagrams(title + ":").first)
        let answer = RouteAnswer(16..<bytes.count, in: bytes.span.bytes)
        return try #require(answer)
    }

    private func address(_ text: String) -> IPAddress? { IPAddress(text) }

    @Test("an entry with a nexthop object names it, and the metric")
    func nexthop() throws {
        let route = try answer("IPv4 entry with nexthop object")
        #expect(route.nexthop == 1)
        #expect(route.metric == 50)
        #expect(route.prefixLength == 0)
        #expect(route.gateway == address("10.0.0.1"))
    }

    @Test("a lookup names interface, gateway and source")
    func plain() throws {
        let route = try answer("IPv4")
        #expect(route.kind == .unicast)
        #expect(route.interface == 10)
        #expect(route.gateway == address("10.0.0.1"))
        #expect(route.source == address("10.0.0.2"))
        #expect(route.prefixLength == 32)
    }

    @Test("the legs of a multipath route, also of a nexthop group")
    func legs() throws {
        let route = try answer("IPv4 entry, multipath")
        #expect(route.legs.map(\.interface) == [10, 10])
        #expect(route.legs.map(\.gateway) == [address("10.0.0.1"), address("10.0.0.3")])
        #expect(route.legs.allSatisfy { !$0.isDead && !$0.isLinkDown })
        #expect(try answer("IPv4 entry, nexthop group").nexthop == 3)
    }

    @Test("an IPv4 route through an IPv6 router (RTA_VIA)")
    func via() throws {
        #expect(try answer("IPv4 via IPv6").gateway == address("fe80::1"))
    }

    @Test("the own address is local")
    func local() throws {
        #expect(try answer("IPv4 local").kind == .local)
    }

    @Test("an IPv6 entry has its lifetime in hundredths of a second")
    func expiry() throws {
        let route = try answer("IPv6 entry with expiry")
        #expect(route.expires.map { (49_000...50_000).contains($0) } == true)
        #expect(route.gateway == address("fe80::1"))
        #expect(try answer("IPv4").expires == nil)
    }
}
