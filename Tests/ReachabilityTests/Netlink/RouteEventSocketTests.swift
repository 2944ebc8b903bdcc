// SPDX-License-Identifier: Apache-2.0

import CLinux
import CNetlink
import Glibc
import Reachability
import ReachabilityCore
import TestSupport
import Testing

@Suite("The socket from a real kernel", .needsNamespace)
struct RouteEventSocketTests {
    /// Drains until an event satisfies `isLast`; nil if none does in time.
    private func events(_ socket: RouteEventSocket, until isLast: (NetworkEvent) -> Bool) throws
        -> [NetworkEvent]?
    {
        let descriptor = try #require(socket.descriptor)
        var events: [NetworkEvent] = []
        while true {
            var batch: [NetworkEvent] = []
            _ = socket.drain(limit: 64, into: &batch)
            for event in batch {
                events.append(event)
                if isLast(event) { return events }
            }
            if batch.isEmpty, !waitUntilReadable(descriptor) { return nil }
        }
    }

    /// Drains up to a rule change, which marks the end of the earlier changes.
    private func eventsSoFar(_ socket: RouteEventSocket, in namespace: TestNamespace) throws -> [NetworkEvent]
    {
        try namespace.shell("ip rule add pref 777 table 777; ip rule del pref 777")
        let all = try events(socket) { if case .ruleChanged = $0 { true } else { false } }
        return Array(try #require(all).dropLast())
    }

    private func routes(_ events: [NetworkEvent]) -> [String] {
        events.compactMap {
            switch $0 {
            case .routeAdded(let prefix, _): "+\(prefix)"
            case .routeRemoved(let prefix, _): "-\(prefix)"
            default: nil
            }
        }
    }

    @Test("every silent loss of a default route shows as some other event")
    func silentLosses() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let socket = RouteEventSocket(namespace: namespace.entry)
        try socket.open()
        #expect(socket.limitations == [])
        try namespace.shell("ip addr del 10.0.0.2/24 dev v0")
        #expect(
            try events(socket) {
                if case .addressRemoved(let gone) = $0 { gone.interface == 10 } else { false }
            } != nil)
        try namespace.shell("ip link set v0 down")
        #expect(
            try events(socket) {
                if case .linkChanged(let link, _) = $0 {
                    link.index == 10 && !link.flags.contains(.up)
                } else {
                    false
                }
            } != nil)
        try namespace.shell("ip link del v0")
        #expect(try events(socket) { $0 == .linkRemoved(index: 10) } != nil)
    }

    @Test("only routes that matter arrive, of many; the filter follows the watched hosts")
    func filter() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let socket = RouteEventSocket(namespace: namespace.entry)
        try socket.open()
        let others = """
            for i in $(seq 1 200); do echo "route add 203.0.113.$i/32 via 10.0.0.1"; done | ip -batch -
            """
        try namespace.shell(others)
        #expect(try routes(eventsSoFar(socket, in: namespace)) == [])
        socket.setFilter(RouteFilter(hosts: [try #require(IPAddress("198.51.100.7"))]))
        try namespace.shell(
            """
            ip route flush 203.0.113.0/24 via 10.0.0.1 || true
            ip route add 198.51.100.0/24 via 10.0.0.1
            ip route add 198.51.101.0/24 via 10.0.0.1
            ip route add blackhole 198.51.100.7/32
            ip route del default
            """)
        #expect(
            try routes(eventsSoFar(socket, in: namespace)) == [
                "+198.51.100.0/24", "+198.51.100.7/32", "-0.0.0.0/0",
            ])
        socket.setFilter(RouteFilter())
        try namespace.shell("ip route del 198.51.100.0/24; ip route add 0.0.0.0/1 via 10.0.0.1")
        #expect(try routes(eventsSoFar(socket, in: namespace)) == ["+0.0.0.0/1"])
    }

    @Test("IPv6 routes are told apart in the kernel as well")
    func filterIPv6() throws {
        let namespace = try TestNamespace()
        try namespace.shell(
            "ip link add d0 type veth peer name d1; ip link set d0 up; ip link set d1 up; ip -6 addr add 2001:db8::2/64 dev d0 nodad"
        )
        let socket = RouteEventSocket(namespace: namespace.entry)
        socket.setFilter(RouteFilter(hosts: [try #require(IPAddress("2001:db8:9::7"))]))
        try socket.open()
        try namespace.shell(
            """
            ip -6 route add 2001:db8:9::/48 dev d0
            ip -6 route add 2001:db8:8::/48 dev d0
            ip -6 route add 2001:db8:9::7/128 dev d0
            ip -6 route add 2001:db8:9::8/128 dev d0
            ip -6 route add default dev d0
            """)
        #expect(
            try routes(eventsSoFar(socket, in: namespace)) == [
                "+2001:db8:9::/48", "+2001:db8:9::7/128", "+::/0",
            ])
    }

    @Test("RB-01 an overrun is an event; the socket goes on and tells what comes later")
    func overrun() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let socket = RouteEventSocket(namespace: namespace.entry, receiveBufferSize: 2048)
        try socket.open()
        let descriptor = socket.descriptor
        try namespace.shell("for i in $(seq 1 60); do ip link set v0 alias a$i; done")
        var events: [NetworkEvent] = []
        #expect(socket.drain(limit: 1000, into: &events) == .overran)
        #expect(events.contains(.overrun))
        #expect(socket.descriptor == descriptor)
        #expect(socket.drain(limit: 1000, into: &events) == .drained)
        try namespace.shell("ip route del default")
        #expect(try routes(eventsSoFar(socket, in: namespace)) == ["-0.0.0.0/0"])
    }

    @Test("RB-01 after an overrun nothing is lost unsaid, however little was to be read at a time")
    func overrunReadInPieces() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let socket = RouteEventSocket(namespace: namespace.entry, receiveBufferSize: 16384)
        try socket.open()
        try namespace.shell("for i in $(seq 1 60); do ip link set v0 alias a$i; done")
        var events: [NetworkEvent] = []
        #expect(socket.drain(limit: 1, into: &events) == .overran)
        // The queue held several; until it is empty the kernel drops further ones silently.
        #expect(events.count > 2)
        try namespace.shell("ip route del default")
        #expect(try routes(eventsSoFar(socket, in: namespace)) == ["-0.0.0.0/0"])
    }

    @Test("RB-05 a message longer than the buffer counts as lost, and the next one fits")
    func truncation() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let socket = RouteEventSocket(namespace: namespace.entry)
        try socket.open()
        // A route with 2500 legs: 40,000 bytes.
        func request(_ type: UInt16) -> [UInt8] {
            var request = NetlinkRequest()
            request.begin(type, flags: NLM_F_CREATE, sequence: 1)
            for byte: UInt8 in [2, 1, 0, 0, 254, 4, 0, 1, 0, 0, 0, 0] { request.append(byte) }
            request.attribute(1, IPAddress(v4: 0x8000_0000))
            request.append(UInt16(4 + 2500 * 16))
            request.append(UInt16(9))
            for leg in 0..<2500 as Range<UInt32> {
                request.append(UInt16(16))
                request.append(UInt16(0))
                request.append(Int32(10))
                request.attribute(5, IPAddress(v4: 0x0A00_0001 + leg % 200))
            }
            request.end()
            return request.bytes
        }
        let sender = try NetlinkSocket(.route, namespace: namespace.entry)
        try sender.send(request(24))
        #expect(try eventsSoFar(socket, in: namespace) == [.overrun])
        try sender.send(request(25))
        #expect(try routes(eventsSoFar(socket, in: namespace)) == ["-128.0.0.0/1"])
    }

    @Test("RB-06 what another process sends is not believed")
    func stranger() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let socket = RouteEventSocket(namespace: namespace.entry)
        try socket.open()
        var address = sockaddr_nl()
        var length = socklen_t(MemoryLayout<sockaddr_nl>.size)
        let descriptor = try #require(socket.descriptor)
        withUnsafeMutableBytes(of: &address) {
            _ = getsockname(descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
        }
        #expect(address.nl_pid != 0)
        let stranger = try NetlinkSocket(.route, namespace: namespace.entry)
        let forged = try #require(NetlinkRecording("routes").datagrams("default removed").first)
        let sent = withUnsafeBytes(of: &address) { receiver in
            forged.withUnsafeBytes {
                sendto(
                    stranger.descriptor, $0.baseAddress, $0.count, 0,
                    receiver.baseAddress?.assumingMemoryBound(to: sockaddr.self), length)
            }
        }
        #expect(sent == forged.count)
        #expect(try eventsSoFar(socket, in: namespace) == [])
        #expect(socket.discarded == 1)
    }

    @Test(
        "RB-12 a descriptor that is no socket any more is broken; opened again, the socket works with its filter"
    )
    func broken() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let socket = RouteEventSocket(namespace: namespace.entry)
        socket.setFilter(RouteFilter(hosts: [try #require(IPAddress("198.51.100.7"))]))
        try socket.open()
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        dup2(null, try #require(socket.descriptor))
        close(null)
        var events: [NetworkEvent] = []
        #expect(socket.drain(limit: 64, into: &events) == .broken(errno: ENOTSOCK))
        try socket.open()
        try namespace.shell(
            "ip route add 198.51.100.0/24 via 10.0.0.1; ip route add 198.51.101.0/24 via 10.0.0.1")
        #expect(try routes(eventsSoFar(socket, in: namespace)) == ["+198.51.100.0/24"])
    }

    @Test(
        "RB-13 where the kernel takes no filter, the socket runs without, and tells the same",
        .enabled("the limit of this kernel concerns every namespace") { await FilterLimit.isOwn() })
    func withoutFilter() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let hosts = (0..<48).map { IPAddress(v6High: 0x2001_0DB8 << 32, low: UInt64($0)) }
        let socket = RouteEventSocket(namespace: namespace.entry)
        socket.setFilter(RouteFilter(hosts: hosts))
        // The long program does not fit, the coarse one does.
        try namespace.shell("sysctl -qw net.core.optmem_max=2048")
        try socket.open()
        #expect(socket.limitations == [])
        try namespace.shell("sysctl -qw net.core.optmem_max=0")
        try socket.open()
        #expect(socket.limitations == .unfiltered)
        try namespace.shell("ip route add 198.51.101.0/24 via 10.0.0.1; ip route del default")
        #expect(try routes(eventsSoFar(socket, in: namespace)) == ["-0.0.0.0/0"])
    }

    @Test("the longest program the filter makes is one that the kernel takes")
    func longestProgram() throws {
        let namespace = try TestNamespace()
        _ = try? namespace.shell("sysctl -qw net.core.optmem_max=20480")
        let filter = RouteFilter(
            hosts: (0..<128).map { IPAddress(v4: 0x0B00_0000 + $0) }
                + (0..<48).map { IPAddress(v6High: 0x2001_0DB8 << 32, low: $0) })
        #expect(filter.openFamilies.isEmpty)
        let socket = try NetlinkSocket(.route, namespace: namespace.entry)
        #expect(throws: Never.self) { try socket.attach(filter.program) }
    }

    @Test("RB-14 a group that the kernel lacks is done without")
    func missingGroup() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let socket = RouteEventSocket(namespace: namespace.entry, optionalGroups: [4000])
        try socket.open()
        #expect(socket.limitations == .partialEvents)
        try namespace.shell("ip route del default")
        #expect(try routes(eventsSoFar(socket, in: namespace)) == ["-0.0.0.0/0"])
    }

    @Test("RB-22 settings that lookups depend on are told, others are not, nor those of new interfaces")
    func settings() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let socket = RouteEventSocket(namespace: namespace.entry)
        try socket.open()
        try namespace.shell(
            """
            sysctl -qw net.ipv4.conf.v0.proxy_arp=1 net.ipv4.conf.v0.rp_filter=2 net.ipv6.conf.v0.proxy_ndp=1
            ip link add d0 type veth peer name d1
            ip link del d0
            """)
        let silent = try eventsSoFar(socket, in: namespace)
        #expect(!silent.contains { if case .settingChanged = $0 { true } else { false } })
        try namespace.shell("sysctl -qw net.ipv4.conf.v0.ignore_routes_with_linkdown=1")
        #expect(try eventsSoFar(socket, in: namespace) == [.settingChanged(.ipv4)])
        try namespace.shell("sysctl -qw net.ipv6.conf.v0.ignore_routes_with_linkdown=1")
        #expect(try eventsSoFar(socket, in: namespace) == [.settingChanged(.ipv6)])
        try namespace.shell("sysctl -qw net.ipv4.conf.v0.forwarding=1")
        #expect(try eventsSoFar(socket, in: namespace) == [.settingChanged(.ipv4)])
    }

    @Test("RB-20 the descriptors are closed in other programs")
    func closeOnExec() throws {
        let namespace = try TestNamespace()
        let socket = RouteEventSocket(namespace: namespace.entry)
        let wireless = NL80211EventSocket(namespace: namespace.entry)
        try socket.open()
        try wireless.open()
        for descriptor in [socket.descriptor, wireless.descriptor] {
            #expect(fcntl(try #require(descriptor), F_GETFD) & FD_CLOEXEC != 0)
        }
    }

    @Test("nl80211's socket is silent where there is no Wi-Fi")
    func wirelessSilence() throws {
        let namespace = try TestNamespace.withDefaultRoute()
        let socket = NL80211EventSocket(namespace: namespace.entry)
        try socket.open()
        var events: [NetworkEvent] = []
        #expect(socket.drain(limit: 64, into: &events))
        #expect(events == [])
    }
}
