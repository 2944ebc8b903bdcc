// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityCore
import Testing

/// Recorded bytes of the kernel; the recordings name each action.
@Suite("Events from recorded bytes")
struct NetlinkDecoderTests {
    private func links(_ events: [NetworkEvent], index: Int32 = 10) -> [LinkState] {
        events.compactMap {
            if case .linkChanged(let link, _) = $0, link.index == index { link } else { nil }
        }
    }

    @Test("a veth pair: names, indexes, kind, the other end")
    func veth() throws {
        let events = try NetlinkRecording("links").events("veth created")
        let v0 = try #require(links(events).first)
        #expect(v0.name == "v0")
        #expect(v0.kind == "veth")
        #expect(v0.lower == 21)
        #expect(v0.hardwareType == 1)
        #expect(!v0.flags.contains(.up))
        #expect(try #require(links(events, index: 21).first).name == "p0")
    }

    @Test("a carrier that is lost and comes back, counted")
    func carrier() throws {
        let recording = try NetlinkRecording("links")
        let lost = links(recording.events("carrier lost")).last
        let back = links(recording.events("carrier back")).last
        #expect(lost?.flags.contains(.lowerUp) == false)
        #expect(back?.flags.isSuperset(of: [.up, .lowerUp, .running]) == true)
        #expect(back?.operationalState == .up)
        #expect(lost?.carrierDownCount == 2)
        #expect(back?.carrierUpCount == 2)
    }

    @Test("an interface that waits for 802.1X is dormant and has its carrier")
    func dormant() throws {
        let state = try links(NetlinkRecording("links").events("dormant")).last
        #expect(state?.operationalState == .dormant)
        #expect(state?.flags.contains(.lowerUp) == true)
        #expect(state?.flags.contains(.running) == false)
    }

    @Test("a rename keeps the index")
    func rename() throws {
        let states = try links(NetlinkRecording("links").events("renamed"))
        #expect(states.map(\.name) == ["eth77", "v0"])
    }

    @Test("RB-23 a port that leaves its bridge is not a link that is gone")
    func bridgePort() throws {
        let recording = try NetlinkRecording("links")
        let joined = recording.events("port joined")
        let left = recording.events("port left")
        #expect(links(joined, index: 21).last?.master == 12)
        #expect(recording.entries.contains { $0.title == "port left: DELLINK family 7" })
        #expect(!left.contains(.linkRemoved(index: 21)))
        #expect(links(left, index: 21).last?.master == nil)
    }

    @Test("FLD-078 a message of AF_BRIDGE with the state of a port is a change of the link")
    func portState() throws {
        let states = try links(NetlinkRecording("links").events("port joined"), index: 21)
            .compactMap(\.bridgePortState)
        #expect(states.last == .forwarding)
        #expect(states.count >= 3)
    }

    @Test("RB-23 messages about bridge ports and router discovery say nothing about the link")
    func families() throws {
        for family: UInt8 in [AddressFamily.bridge, AddressFamily.inet6] {
            for var bytes in try NetlinkRecording("links").datagrams("veth created") {
                bytes[16] = family
                var decoder = NetlinkDecoder()
                var events: [NetworkEvent] = []
                decoder.decode(bytes.span.bytes, into: &events)
                #expect(events.isEmpty)
                #expect(decoder.malformed == 0)
            }
        }
    }

    @Test(
        "RB-24 a link that moved into another namespace is gone here, its peer has its lower link elsewhere")
    func movedAway() throws {
        let events = try NetlinkRecording("links").events("peer moved away")
        #expect(events.contains(.linkRemoved(index: 21)))
        let peer = try #require(links(events).last)
        #expect(peer.lowerIsElsewhere)
        #expect(peer.lower == nil)
    }

    @Test("stacked links name what they stand on")
    func stacked() throws {
        let macvlan = try #require(links(NetlinkRecording("links").events("macvlan"), index: 13).last)
        #expect(macvlan.kind == "macvlan")
        #expect(macvlan.lower == 10)
        #expect(try links(NetlinkRecording("synthetic").events("vlan"), index: 8).last?.lower == 2)
        #expect(try links(NetlinkRecording("synthetic").events("bond"), index: 7).last?.activePort == 4)
    }

    @Test("a driver's wireless event is marked, and every other link message is not")
    func wirelessNoise() throws {
        let noise = try NetlinkRecording("synthetic").events("wireless event")
        guard case .linkChanged(let link, isWirelessNoise: true) = try #require(noise.first) else {
            Issue.record("not marked")
            return
        }
        #expect(link.name == "wlan0")
        for case .linkChanged(_, let isNoise) in try NetlinkRecording("links").events("") {
            #expect(!isNoise)
        }
    }

    @Test("addresses with their lengths, the own end of a pair, duplicate address detection, deprecation")
    func addresses() throws {
        let recording = try NetlinkRecording("addresses")
        func added(_ title: String) -> [InterfaceAddress] {
            recording.events(title).compactMap {
                if case .addressAdded(let address) = $0 { address } else { nil }
            }
        }
        #expect(added("IPv4 added").map(\.text) == ["10.0.0.2/24"])
        #expect(added("IPv4 with peer").map(\.text) == ["10.9.0.1/32"])
        let detection = added("IPv6 added")
        #expect(detection.map(\.text) == ["2001:db8::2/64", "2001:db8::2/64"])
        #expect(detection.map(\.isUsable) == [false, true])
        #expect(added("IPv6 deprecated").first?.flags.contains(.deprecated) == true)
        let removed = recording.events("IPv4 removed")
        #expect(
            removed.contains {
                if case .addressRemoved(let gone) = $0 { gone.text == "10.9.0.1/32" } else { false }
            })
    }

    @Test("routes that matter, also to a watched host; the others are left out here too (RB-13)")
    func routes() throws {
        let recording = try NetlinkRecording("routes")
        let filter = RouteFilter(hosts: [IPAddress(v4: 0xCB00_7105)])
        let prefixes = recording.events("", filter: filter).map { event in
            switch event {
            case .routeAdded(let prefix, let interface): "+\(prefix)" + (interface.map { " #\($0)" } ?? "")
            case .routeRemoved(let prefix, let interface): "-\(prefix)" + (interface.map { " #\($0)" } ?? "")
            default: "?"
            }
        }
        #expect(
            prefixes == [
                // The second replaced another route, and the fifth has no next hop: neither names an
                // interface.
                "+0.0.0.0/0 #10", "+0.0.0.0/0", "+128.0.0.0/1 #10", "+203.0.113.0/24 #10", "+203.0.113.5/32",
                "+::/0 #10", "-0.0.0.0/0 #10",
            ])
        #expect(recording.events("").count == 5)
    }

    @Test("rules and nexthop objects")
    func policy() throws {
        let recording = try NetlinkRecording("policy")
        #expect(recording.events("rule added") == [.ruleChanged(.ipv4), .ruleChanged(.ipv6)])
        #expect(recording.events("rule removed") == [.ruleChanged(.ipv4)])
        #expect(recording.events("nexthop group") == [.nexthopChanged(2), .nexthopChanged(3)])
        #expect(recording.events("nexthop removed").first == .nexthopChanged(1))
    }

    @Test("nl80211's connections, roaming and disconnections, as soon as its number is known")
    func wireless() throws {
        let recording = try NetlinkRecording("synthetic")
        var decoder = WirelessDecoder()
        var events: [NetworkEvent] = []
        var families: [GenericFamily] = []
        for bytes in recording.datagrams("nl80211: CONNECT") + recording.datagrams("nl80211") {
            if let family = decoder.decode(bytes.span.bytes, into: &events) { families.append(family) }
        }
        #expect(families.map(\.groups) == [["config": 6, "mlme": 9]])
        // CONNECT is ignored before the number is known; afterwards all but the scan and the replies count.
        #expect(events == Array(repeating: .wirelessChanged(index: 3), count: 4))
    }

    @Test("nl80211's filter lets the controller, errors and the counting commands pass")
    func wirelessFilter() throws {
        let interpreter = FilterInterpreter(program: NL80211EventSocket.filter)
        let passed = try NetlinkRecording("synthetic").entries
            .filter { try $0.title.hasPrefix("nl80211") && interpreter.passes($0.bytes) }
            .map { $0.title.split(separator: " ")[1] }
        #expect(passed == ["CTRL_CMD_NEWFAMILY", "CONNECT", "ROAM", "DISCONNECT", "NEW_INTERFACE,"])
    }

    @Test("mode, name, access point and signal")
    func station() throws {
        let recording = try NetlinkRecording("synthetic")
        let interface = try #require(recording.datagrams("nl80211: NEW_INTERFACE").first)
        let station = try #require(recording.datagrams("nl80211: NEW_STATION").first)
        let read = WirelessState(interface: 16..<interface.count, in: interface.span.bytes)
        var state = try #require(read)
        state.readStation(16..<station.count, in: station.span.bytes)
        #expect(state == WirelessState(mode: 2, ssid: "Café", accessPoint: [2, 0, 0, 0, 1, 0], signal: -42))
    }
}
