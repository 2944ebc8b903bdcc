// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityCore
import TestSupport
import Testing

@Suite("The filter in the kernel")
struct RouteFilterTests {
    private static let newRoute: UInt16 = 24
    private static let deleteRoute: UInt16 = 25

    /// A route message like the kernel's; `lead` attributes precede RTA_DST.
    private func message(_ prefix: IPPrefix, type: UInt16 = newRoute, lead: Int = 0) -> [UInt8] {
        var request = NetlinkRequest()
        request.begin(type, sequence: 0)
        request.append(AddressFamily.number(prefix.address.family))
        request.append(UInt8(prefix.length))
        request.append(UInt16(0))
        request.append(UInt64(0))
        for number in 0..<lead { request.attribute(15, UInt32(number)) }
        if prefix.length > 0 { request.attribute(1, prefix.address) }
        request.attribute(4, Int32(3))
        request.end()
        return request.bytes
    }

    private func address(_ family: IPAddress.Family, _ generator: inout SeededGenerator) -> IPAddress {
        switch family {
        case .ipv4: IPAddress(v4: UInt32(truncatingIfNeeded: generator.next()))
        case .ipv6: IPAddress(v6High: generator.next(), low: generator.next())
        }
    }

    /// The address with one bit flipped.
    private func neighbour(_ address: IPAddress, bit: Int) -> IPAddress {
        switch address.family {
        case .ipv4: IPAddress(v4: UInt32(truncatingIfNeeded: address.low) ^ 1 << UInt32(31 - bit))
        case .ipv6:
            bit < 64
                ? IPAddress(v6High: address.high ^ 1 << UInt64(63 - bit), low: address.low)
                : IPAddress(v6High: address.high, low: address.low ^ 1 << UInt64(127 - bit))
        }
    }

    @Test("the program decides as the predicate does, whatever the hosts and the prefix")
    func programIsPredicate() throws {
        var generator = SeededGenerator(seed: 42)
        var passed = 0
        for _ in 0..<60 {
            let hosts = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
                address(Bool.random(using: &generator) ? .ipv4 : .ipv6, &generator)
            }
            let filter = RouteFilter(hosts: hosts)
            let interpreter = FilterInterpreter(program: filter.program)
            for _ in 0..<40 {
                var target = address(Bool.random(using: &generator) ? .ipv4 : .ipv6, &generator)
                // Prefixes that cover a host, and others that differ in a single bit.
                if let host = hosts.randomElement(using: &generator) {
                    target = host
                    if Bool.random(using: &generator) {
                        target = neighbour(host, bit: Int.random(in: 0..<host.bitWidth, using: &generator))
                    }
                }
                let length = Int.random(in: 0...target.bitWidth, using: &generator)
                let prefix = try #require(IPPrefix(target, length: length))
                let type = Bool.random(using: &generator) ? Self.newRoute : Self.deleteRoute
                let bytes = message(prefix, type: type, lead: Int.random(in: 0...3, using: &generator))
                let verdict = try interpreter.passes(bytes)
                #expect(verdict == filter.passes(prefix), "\(prefix) with \(hosts)")
                passed += verdict ? 1 : 0
            }
        }
        // Both results are frequent.
        #expect((600...1800).contains(passed))
    }

    @Test("defaults and halves of both families pass, other prefixes do not")
    func defaults() throws {
        let interpreter = FilterInterpreter(program: RouteFilter().program)
        for (text, expected) in [
            ("0.0.0.0/0", true), ("0.0.0.0/1", true), ("128.0.0.0/1", true), ("::/0", true),
            ("8000::/1", true),
            ("0.0.0.0/2", false), ("203.0.113.0/24", false), ("10.0.0.1/32", false), ("2000::/3", false),
            ("2001:db8::/32", false), ("::1/128", false),
        ] {
            let prefix = try #require(IPPrefix(text))
            #expect(try interpreter.passes(message(prefix)) == expected, "\(text)")
        }
    }

    @Test(
        "messages about links, addresses, rules and nexthops pass",
        arguments: ["links", "addresses", "policy"])
    func otherMessages(_ recording: String) throws {
        let interpreter = FilterInterpreter(program: RouteFilter().program)
        for entry in try NetlinkRecording(recording).entries where !entry.title.contains("ROUTE") {
            #expect(try interpreter.passes(entry.bytes), "\(entry.title)")
        }
    }

    @Test("a recorded route passes exactly where it matters")
    func recordedRoutes() throws {
        let host = IPAddress(v4: 0xCB00_7105)  // 203.0.113.5
        let interpreter = FilterInterpreter(program: RouteFilter(hosts: [host]).program)
        let passed = try NetlinkRecording("routes").entries.filter { try interpreter.passes($0.bytes) }.map(
            \.title)
        #expect(
            passed.map { $0.split(separator: ":")[0] } == [
                "default added", "default replaced", "half added", "prefix added", "host blackholed",
                "IPv6 default added", "default removed",
            ])
    }

    @Test("many hosts of a family open the whole family, and the program still fits")
    func limits() throws {
        let limit = RouteFilter.hostLimit(.ipv4)
        let full = RouteFilter(hosts: (0..<limit).map { IPAddress(v4: 0x0B00_0000 + UInt32($0)) })
        let over = RouteFilter(hosts: (0...limit).map { IPAddress(v4: 0x0B00_0000 + UInt32($0)) })
        let elsewhere = try #require(IPPrefix("192.0.2.0/24"))
        let elsewhere6 = try #require(IPPrefix("2001:db8::/32"))
        #expect(!full.passes(elsewhere))
        #expect(over.passes(elsewhere))
        #expect(!over.passes(elsewhere6))
        #expect(try FilterInterpreter(program: over.program).passes(message(elsewhere)))
        #expect(try !FilterInterpreter(program: over.program).passes(message(elsewhere6)))
        let both = RouteFilter(
            hosts: full.hosts + (0..<48).map { IPAddress(v6High: 0x2001_0DB8 << 32, low: UInt64($0)) })
        #expect(both.openFamilies.isEmpty)
        #expect(both.program.count <= 4096)
        #expect(both.coarse.program.count < 48)
    }

    @Test("two IPv4 hosts cost few instructions")
    func size() {
        let filter = RouteFilter(hosts: [IPAddress(v4: 1 << 24 | 1), IPAddress(v4: 9 << 24 | 1)])
        #expect(filter.program.count < 96)
    }

    @Test(
        "FLD-012 of the neighbours only an IPv6 router that does not answer passes, and while it is waited for all routers"
    )
    func routers() throws {
        let (new, removed, wanted): (UInt16, UInt16, UInt16) = (28, 29, 30)
        // NUD_REACHABLE is 2, NUD_STALE 4, NUD_FAILED 0x20; NTF_ROUTER is 0x80 (linux/neighbour.h).
        func message(_ type: UInt16, _ family: UInt8, state: UInt16, flags: UInt8) -> [UInt8] {
            var request = NetlinkRequest()
            request.begin(type, sequence: 0)
            request.append(UInt32(family))
            request.append(Int32(3))
            request.append(state)
            request.append(flags)
            request.append(UInt8(1))
            request.attribute(1, IPAddress(v6High: 0xFE80 << 48, low: 1))
            request.end()
            return request.bytes
        }
        var waiting = RouteFilter()
        waiting.followsRouters = true
        for (type, family, state, flags, passes, passesWaiting) in [
            (new, AddressFamily.inet6, 0x20, 0x80, true, true),
            (new, AddressFamily.inet6, 0x20, 0, false, false),
            (new, AddressFamily.inet, 0x20, 0x80, false, false),
            (new, AddressFamily.inet6, 2, 0x80, false, true),
            (new, AddressFamily.inet6, 4, 0x80, false, true),
            (new, AddressFamily.inet6, 2, 0, false, false),
            (removed, AddressFamily.inet6, 0x20, 0x80, false, true),
            (removed, AddressFamily.inet6, 0x20, 0, false, false),
            (wanted, AddressFamily.inet6, 0x20, 0x80, false, false),
        ] as [(UInt16, UInt8, UInt16, UInt8, Bool, Bool)] {
            let bytes = message(type, family, state: state, flags: flags)
            #expect(
                try FilterInterpreter(program: RouteFilter().program).passes(bytes) == passes,
                "\(type) \(state)")
            #expect(
                try FilterInterpreter(program: waiting.program).passes(bytes) == passesWaiting,
                "\(type) \(state)")
        }
        // One event when the router fails, none while it keeps failing, one when it answers or is removed.
        for (type, state) in [(new, 2), (removed, 0x20)] as [(UInt16, UInt16)] {
            var decoder = NetlinkDecoder()
            var events: [NetworkEvent] = []
            for (type, state) in [(new, 2), (new, 0x20), (new, 0x20), (type, state), (new, 2)]
                as [(UInt16, UInt16)]
            {
                decoder.decode(
                    message(type, AddressFamily.inet6, state: state, flags: 0x80).span.bytes, into: &events)
                #expect(decoder.filter.followsRouters == (events.count == 1))
            }
            #expect(events == [.routerChanged(interface: 3), .routerChanged(interface: 3)])
        }
    }

    @Test("RB-22 of the settings only those pass that lookups depend on, in the kernel and here")
    func settings() throws {
        let interpreter = FilterInterpreter(program: RouteFilter().program)
        let (newSetting, removedSetting): (UInt16, UInt16) = (80, 81)
        // NETCONFA_IFINDEX is 1, FORWARDING 2, PROXY_NEIGH 5, IGNORE_ROUTES_WITH_LINKDOWN 6
        // (linux/netconf.h).
        for (type, attributes, expected) in [
            (newSetting, [1, 2], true), (newSetting, [1, 6], true), (newSetting, [1, 3], false),
            (newSetting, [1, 5], false), (newSetting, [1], false),
            (newSetting, [1, 2, 3, 4, 5, 8, 6], false),
            (removedSetting, [1], false), (removedSetting, [1, 2], false),
        ] {
            for family in IPAddress.Family.allCases {
                var request = NetlinkRequest()
                request.begin(type, sequence: 0)
                request.append(UInt32(AddressFamily.number(family)))
                for attribute in attributes { request.attribute(attribute, Int32(1)) }
                request.end()
                #expect(try interpreter.passes(request.bytes) == expected, "\(type) \(attributes)")
                var decoder = NetlinkDecoder()
                var events: [NetworkEvent] = []
                decoder.decode(request.bytes.span.bytes, into: &events)
                #expect(events == (expected ? [.settingChanged(family)] : []), "\(type) \(attributes)")
                #expect(decoder.malformed == 0)
            }
        }
    }
}
