// SPDX-License-Identifier: Apache-2.0

import Glibc
import Reachability
import ReachabilityCore
import Testing

@Suite("Questions to nl80211: scan results")
struct WirelessScanTests {
    private typealias Message = WirelessBytes.Message

    @Test(
        "a network that the scan results do not name is asked for with pauses as well, and found in the end")
    func lateResults() {
        let air = WirelessAir()
        air.connect(WirelessAir.first, "lab")
        air.scan = { _, _ in [] }
        for clock in 0..<90 as Range<Int64> {
            air.clock = clock
            #expect(air.state()?.ssid == nil)
        }
        #expect(air.scans == 1)
        air.connect(WirelessAir.first, "lab")
        air.clock = 100
        #expect(air.state()?.ssid == "lab")
        air.clock = 5000
        #expect(air.state()?.ssid == "lab")
        #expect(air.scans == 2)
        // Another association is read at once.
        air.connect(WirelessAir.second, "other", associatedAt: 2_000_000_000)
        #expect(air.state()?.ssid == "other")
        #expect(air.scans == 3)
    }

    @Test("hundreds of networks: one is in use, and the others leave nothing behind")
    func crowd() {
        let air = WirelessAir()
        air.connect(WirelessAir.first, "lab")
        air.scan = { _, sequence in
            (0..<1000).map { number in
                let address: [UInt8] = [6, 0, 0, 0, UInt8(number >> 8), UInt8(number & 255)]
                return .bytes(
                    number == 700
                        ? Message.scan(WirelessAir.first, status: 1, name: "lab", sequence: sequence).bytes
                        : Message.scan(address, status: nil, name: "n\(number)", sequence: sequence).bytes)
            }
        }
        #expect(air.state()?.ssid == "lab")
        #expect(air.kernel.queue.isEmpty)
        #expect(air.opened == 1)
    }

    @Test("an interrupted dump is repeated where the network in use was not in it, and not for ever")
    func interruption() {
        func other(_ sequence: UInt32) -> ScriptedKernel.Reply {
            .bytes(
                Message.scan(
                    WirelessAir.second, status: nil, name: "other", sequence: sequence,
                    flags: WirelessAir.interrupted
                ).bytes)
        }
        let air = WirelessAir()
        air.connect(WirelessAir.first, "lab")
        air.scan = { dump, sequence in
            dump == 1
                ? [other(sequence)]
                : [
                    other(sequence),
                    .bytes(
                        Message.scan(
                            WirelessAir.first, status: 1, name: "lab", sequence: sequence,
                            flags: WirelessAir.interrupted
                        ).bytes),
                ]
        }
        #expect(air.state()?.ssid == "lab")
        #expect(air.scans == 2)
        // Always interrupted: the question ends, and a later evaluation repeats it.
        let busy = WirelessAir()
        busy.connect(WirelessAir.first, "lab")
        busy.scan = { _, sequence in [other(sequence)] }
        #expect(busy.state() == WirelessState(mode: 2, accessPoint: WirelessAir.first, signal: -42))
        #expect(busy.scans == 3)
        busy.connect(WirelessAir.first, "lab")
        busy.clock += 100
        #expect(busy.state()?.ssid == "lab")
    }

    @Test("a change in the middle of the dump: of two networks in use, the station's own counts")
    func twice() {
        for order in [[WirelessAir.first, WirelessAir.second], [WirelessAir.second, WirelessAir.first]] {
            let air = WirelessAir()
            air.connect(WirelessAir.second, "new")
            air.scan = { _, sequence in
                order.map {
                    .bytes(
                        Message.scan(
                            $0, status: 1, name: $0 == WirelessAir.second ? "new" : "old", sequence: sequence,
                            flags: WirelessAir.interrupted
                        ).bytes)
                }
            }
            #expect(air.state()?.ssid == "new")
        }
    }

    @Test("a name that may be another access point's is not remembered")
    func justRoamed() {
        let air = WirelessAir()
        air.connect(WirelessAir.first, "old")
        let scan = air.scan
        air.connect(WirelessAir.second, "new")
        let later = air.scan
        air.scan = scan
        #expect(air.state()?.accessPoint == WirelessAir.second)
        air.scan = later
        air.clock += 100
        #expect(air.state()?.ssid == "new")
    }

    @Test("scan results that are refused, silent, broken or too long leave the rest of the answer as it is")
    func failures() {
        let replies: [(UInt32) -> [ScriptedKernel.Reply]] = [
            { [.bytes(ScriptedKernel.end(2, errno: EOPNOTSUPP, sequence: $0))] },
            { [.bytes(ScriptedKernel.end(2, errno: EPERM, sequence: $0))] },
            { _ in [.reception(.nothing)] },
            { _ in [.reception(.overrun)] },
            { _ in [.reception(.broken(errno: EBADF))] },
            { _ in [.bytes([1, 2, 3])] },
        ]
        for reply in replies {
            let air = WirelessAir()
            air.connect(WirelessAir.first, "lab")
            let scan = air.scan
            air.scan = { _, sequence in reply(sequence) }
            #expect(air.state() == WirelessState(mode: 2, accessPoint: WirelessAir.first, signal: -42))
            // The end of the dump that was not read.
            air.kernel.queue.removeAll()
            air.scan = scan
            air.clock += 100
            #expect(air.state()?.ssid == "lab")
        }
    }

    @Test("an entry longer than the buffer: it grows, and the dump is asked for again")
    func longEntry() {
        let air = WirelessAir()
        air.connect(WirelessAir.first, "lab")
        let padding = (0..<80).flatMap { _ in [221, 250] + [UInt8](repeating: 0x55, count: 250) }
        air.scan = { _, sequence in
            [
                .bytes(
                    Message.scan(
                        WirelessAir.first, status: 1, elements: padding + [0, 3] + Array("lab".utf8),
                        sequence: sequence
                    ).bytes)
            ]
        }
        #expect(air.state()?.ssid == "lab")
        #expect(air.opened == 2)
        #expect(air.scans == 2)
    }
}
