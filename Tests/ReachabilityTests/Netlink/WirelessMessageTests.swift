// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityCore
import Testing

@Suite("nl80211's entries")
struct WirelessMessageTests {
    private let accessPoint: [UInt8] = [2, 0, 0, 0, 1, 0]

    private func network(_ message: WirelessBytes.Message) -> WirelessNetwork? {
        WirelessNetwork(16..<message.bytes.count, in: message.bytes.span.bytes)
    }

    private func station(_ message: WirelessBytes.Message) -> WirelessStation? {
        WirelessStation(16..<message.bytes.count, in: message.bytes.span.bytes)
    }

    @Test("a scan result counts only where it is the network in use")
    func status() {
        #expect(network(.scan(accessPoint, status: 1, name: "lab"))?.ssid == "lab")
        #expect(network(.scan(accessPoint, status: 1, name: "lab"))?.accessPoint == accessPoint)
        // Authenticated only, ad hoc, not in use.
        for status: UInt32? in [0, 2, nil] {
            #expect(network(.scan(accessPoint, status: status, name: "lab")) == nil)
        }
    }

    @Test("the name is information element 0, wherever it stands")
    func elements() {
        func name(_ elements: [UInt8], beacon: [UInt8]? = nil) -> String? {
            network(.scan(accessPoint, status: 1, elements: elements, beacon: beacon))?.ssid
        }
        #expect(name([1, 2, 0x82, 0x84, 0, 3] + "lab".utf8 + [3, 1, 6]) == "lab")
        #expect(name([0, 5] + "Caf".utf8 + [0xC3, 0xA9]) == "Café")
        // Bytes that are not UTF-8 are replaced; control characters stay, and output escapes them.
        #expect(name([0, 4, 0x61, 0xFF, 0x1B, 0x62]) == "a\u{FFFD}\u{1B}b")
        #expect(name([0, 32] + Array(repeating: 0x61, count: 32)) == String(repeating: "a", count: 32))
        // Hidden in the beacon or in the probe response, and present in the other.
        #expect(name([0, 3, 0, 0, 0], beacon: [0, 3] + "lab".utf8) == "lab")
        #expect(name([0, 3] + "lab".utf8, beacon: [0, 0]) == "lab")
        #expect(name([0, 0], beacon: [0, 2, 0, 0]) == nil)
    }

    @Test(
        "elements of impossible lengths say nothing",
        arguments: [
            [], [0], [0, 1], [0, 3, 0x61, 0x62], [0, 255, 0x61], [1, 255, 0, 3, 0x6C, 0x61, 0x62], [7, 1],
            [0, 33] + Array(repeating: 0x61, count: 33),
        ] as [[UInt8]])
    func hostileElements(_ elements: [UInt8]) {
        let read = network(.scan(accessPoint, status: 1, elements: elements))
        #expect(read?.accessPoint == accessPoint)
        #expect(read?.ssid == nil)
    }

    @Test("whatever is cut off, from the message to an element, never traps")
    func truncated() {
        let whole = WirelessBytes.Message.scan(
            accessPoint, status: 1, elements: [1, 1, 0x82, 0, 3] + "lab".utf8, device: accessPoint)
        var read = 0
        for end in 16..<whole.bytes.count
        where
            WirelessNetwork(16..<end, in: whole.bytes.span.bytes.extracting(0..<end)) != nil
        {
            read += 1
        }
        #expect(read == 0)
        // Every byte of a length, with every kind of wrong value.
        for position in 16..<whole.bytes.count {
            for value: UInt8 in [0, 1, 3, 4, 0x7F, 0xFF] {
                var bytes = whole.bytes
                bytes[position] = value
                _ = WirelessNetwork(16..<bytes.count, in: bytes.span.bytes)
                _ = WirelessStation(16..<bytes.count, in: bytes.span.bytes)
            }
        }
    }

    @Test("addresses that are none")
    func addresses() {
        #expect(network(.scan([2, 0, 0, 0, 1], status: 1, name: "lab")) == nil)
        #expect(network(.scan([], status: 1, name: "lab")) == nil)
        #expect(station(.station([2, 0, 0, 0, 1, 0, 0])) == nil)
    }

    @Test("a Wi-Fi 7 station is the device, one of whose radios the scan result is")
    func multiLink() throws {
        let device: [UInt8] = [2, 0, 0, 0, 9, 9]
        let read = try #require(network(.scan(accessPoint, status: 1, name: "lab", device: device)))
        #expect(read.isServed(by: device))
        #expect(read.isServed(by: accessPoint))
        #expect(!read.isServed(by: [2, 0, 0, 0, 1, 1]))
    }

    @Test("another client to which a direct link is set up is no access point")
    func directLink() throws {
        let peer = WirelessBytes.Message.station([2, 0, 0, 0, 7, 7], signal: -10, isPeer: true)
        #expect(station(peer)?.isPeer == true)
        var state = WirelessState(mode: 2, accessPoint: accessPoint, signal: -50)
        #expect(state.readStation(16..<peer.bytes.count, in: peer.bytes.span.bytes) == nil)
        #expect(state == WirelessState(mode: 2, accessPoint: accessPoint, signal: -50))
    }

    @Test("a new association to the same access point is told by its beginning or by its age")
    func continuation() throws {
        func read(_ address: [UInt8], _ begin: UInt64?, _ age: UInt32?) throws -> WirelessStation {
            try #require(station(.station(address, associatedAt: begin, connectedTime: age)))
        }
        let first = try read(accessPoint, 5_000_000_000, 3)
        #expect(try read(accessPoint, 5_000_000_000, 3).continues(first))
        #expect(try read(accessPoint, 5_000_000_000, 60).continues(first))
        #expect(try !read(accessPoint, 9_000_000_000, 60).continues(first))
        #expect(try !read([2, 0, 0, 0, 1, 1], 5_000_000_000, 60).continues(first))
        let old = try read(accessPoint, nil, 3)
        #expect(try read(accessPoint, nil, 4).continues(old))
        #expect(try !read(accessPoint, nil, 2).continues(old))
    }
}
