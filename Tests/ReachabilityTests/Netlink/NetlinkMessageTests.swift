// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityCore
import Testing

@Suite("Netlink messages")
struct NetlinkMessageTests {
    private func message(type: UInt16 = 16, _ fill: (inout NetlinkRequest) -> Void = { _ in }) -> [UInt8] {
        var request = NetlinkRequest()
        request.begin(type, sequence: 7)
        fill(&request)
        request.end()
        return request.bytes
    }

    private func decode(_ bytes: [UInt8]) -> (events: [NetworkEvent], malformed: UInt64) {
        var decoder = NetlinkDecoder()
        var events: [NetworkEvent] = []
        decoder.decode(bytes.span.bytes, into: &events)
        return (events, decoder.malformed)
    }

    /// A link message with index 5 and these attributes.
    private func link(_ attributes: [UInt8]) -> [UInt8] {
        message {
            $0.append(UInt32(0))
            $0.append(Int32(5))
            $0.append(UInt64(0))
            for byte in attributes { $0.append(byte) }
        }
    }

    @Test("RB-08 a length that cannot be ends the datagram and is counted")
    func impossibleLengths() {
        var bytes = link([])
        for length: UInt32 in [0, 15, 33, 0x7FFF_FFFF, .max] {
            withUnsafeBytes(of: length) { bytes.replaceSubrange(0..<4, with: $0) }
            #expect(decode(bytes).events.isEmpty)
            #expect(decode(bytes).malformed == 1)
        }
        #expect(decode([1, 2, 3]).malformed == 1)
        #expect(decode([]).malformed == 0)
    }

    /// A link message with IFLA_LINKINFO: a kind, and one attribute in its data.
    private func remote(_ kind: String, _ type: Int, _ address: String) -> IPAddress? {
        let bytes = message {
            $0.append(UInt32(0))
            $0.append(Int32(5))
            $0.append(UInt64(0))
            var data = NetlinkRequest()
            if let address = IPAddress(address) { data.attribute(type, address) }
            var info = NetlinkRequest()
            info.attribute(1, kind)
            info.append(UInt16(4 + data.bytes.count))
            info.append(UInt16(2))
            for byte in data.bytes { info.append(byte) }
            $0.append(UInt16(4 + info.bytes.count))
            $0.append(UInt16(18))
            for byte in info.bytes { $0.append(byte) }
        }
        guard case .linkChanged(let link, _)? = decode(bytes).events.first else { return nil }
        return link.remote
    }

    @Test("the other end of a tunnel, where it has one")
    func remoteEnds() {
        for (kind, type) in [
            ("gre", 7), ("gretap", 7), ("ipip", 3), ("sit", 3), ("vti", 5), ("vxlan", 2), ("geneve", 2),
        ] {
            #expect(remote(kind, type, "203.0.113.7")?.description == "203.0.113.7", "\(kind)")
            #expect(remote(kind, type + 1, "203.0.113.7") == nil)
            #expect(remote(kind, type, "0.0.0.0") == nil)
        }
        for (kind, type) in [("ip6gre", 7), ("ip6tnl", 3), ("vti6", 5), ("vxlan", 16), ("geneve", 7)] {
            #expect(remote(kind, type, "2001:db8::7")?.description == "2001:db8::7", "\(kind)")
            #expect(remote(kind, type, "::") == nil)
        }
        #expect(remote("vxlan", 2, "239.1.1.1") == nil)
        #expect(remote("vxlan", 16, "ff02::9") == nil)
        #expect(remote("wireguard", 7, "203.0.113.7") == nil)
    }

    @Test(
        "FLD-011 the kernel's message about a device of nat46, which has a name and no kind, makes it a tunnel",
        arguments: ["464-wan6": .tunnel, "eth0": .device] as [String: MediumRules.Role])
    func translator(_ name: String, _ role: MediumRules.Role) {
        var attributes = NetlinkRequest()
        attributes.attribute(3, name)
        guard case .linkChanged(let link, _)? = decode(link(attributes.bytes)).events.first else {
            Issue.record("no change of a link")
            return
        }
        #expect(link.name == name)
        #expect(link.role == role)
    }

    @Test("RB-08 messages before a malformed one count")
    func goodThenBad() {
        let result = decode(link([]) + [1, 0, 0, 0])
        #expect(result.events.count == 1)
        #expect(result.malformed == 1)
    }

    @Test(
        "RB-08 an attribute with an impossible length makes the message malformed, nothing else",
        arguments: [
            [0, 0, 3, 0],  // length 0
            [3, 0, 3, 0],  // shorter than its header
            [9, 0, 3, 0, 0x61, 0, 0, 0],  // longer than the message
            [12, 0, 18, 0, 9, 0, 1, 0, 0x61, 0, 0, 0],  // nested and longer than what contains it
        ] as [[UInt8]])
    func impossibleAttributes(_ attributes: [UInt8]) {
        let result = decode(link(attributes) + link([]))
        #expect(result.malformed == 1)
        #expect(result.events.count == 1)
    }

    @Test("RB-08 an error without a body, and bodies too short for their type, are malformed")
    func shortBodies() {
        for type: UInt16 in [16, 17, 20, 21, 24, 25, 32, 33, 104, 105] {
            #expect(decode(message(type: type)).events.isEmpty)
            #expect(decode(message(type: type)).malformed == 1, "type \(type)")
        }
        var reply = BatchReply([.link(5)], first: 7)
        reply.read(message(type: 2).span.bytes)
        #expect(reply.answers == [.failure(74)])
    }

    @Test("RB-08 a prefix longer than its family, or without its address, is malformed")
    func impossiblePrefixes() {
        for (family, length): (UInt8, UInt8) in [(2, 33), (10, 129), (2, 8)] {
            let route = message(type: 24) {
                $0.append(family)
                $0.append(length)
                $0.append(UInt16(0))
                $0.append(UInt64(0))
                if length != 8 {
                    $0.attribute(1, family == 2 ? IPAddress(v4: 1) : IPAddress(v6High: 1, low: 1))
                }
            }
            #expect(decode(route).malformed == 1)
        }
    }

    @Test("RB-08 every cut of every recorded datagram is survived", arguments: NetlinkRecording.all)
    func truncations(_ name: String) throws {
        for entry in try NetlinkRecording(name).entries {
            for count in 0..<min(entry.bytes.count, 400) { _ = decode(Array(entry.bytes[..<count])) }
        }
    }

    @Test("RB-09 unknown types, attributes and families are left out without being malformed")
    func unknown() {
        let attribute: [UInt8] = [8, 0, 0xFF, 0x3F, 1, 2, 3, 4]
        #expect(decode(link(attribute)).events == decode(link([])).events)
        #expect(decode(message(type: 200)).malformed == 0)
        for type: UInt16 in [20, 24] {
            let other = message(type: type) {
                $0.append(UInt8(28))
                for _ in 0..<11 { $0.append(UInt8(0)) }
            }
            #expect(decode(other).events.isEmpty)
            #expect(decode(other).malformed == 0)
        }
    }

    @Test("RB-09 an operational state of a later kernel counts as down")
    func unknownOperationalState() {
        guard case .linkChanged(let state, _) = decode(link([5, 0, 16, 0, 42, 0, 0, 0])).events.first else {
            Issue.record("no link")
            return
        }
        #expect(state.operationalState == .down)
    }

    @Test("RB-09 a route type of a later kernel is kept as a number")
    func unknownRouteType() {
        #expect(RouteAnswer.Kind(99) == .other(99))
        #expect(RouteAnswer.Kind(6) == .blackhole)
    }

    @Test("a request is laid out as netlink(7) says")
    func request() {
        let bytes = message(type: 18) {
            $0.append(UInt32(0x0403_0201).littleEndian)
            $0.attribute(3, "ab")
        }
        #expect(bytes.count == 28)
        #expect(Array(bytes[..<8]) == [28, 0, 0, 0, 18, 0, 1, 0])
        #expect(Array(bytes[16...]) == [1, 2, 3, 4, 7, 0, 3, 0, 0x61, 0x62, 0, 0])
    }
}
