// SPDX-License-Identifier: Apache-2.0

import Glibc
import Reachability
import ReachabilityCore
import Testing

@Suite("Questions to nl80211")
struct WirelessQueryTests {
    private typealias Message = WirelessBytes.Message

    private static let interrupted: Int32 = 0x12
    private static let first: [UInt8] = [2, 0, 0, 0, 1, 0]
    private static let second: [UInt8] = [2, 0, 0, 0, 2, 0]

    /// A Wi-Fi interface in nl80211; the next question sees the changes of a test.
    private final class Air {
        var mode: UInt32 = 2
        var ssid: String?
        var stations: [(UInt32) -> Message] = []
        /// The scan results, one datagram each; made again for every dump.
        var scan: (_ dump: Int, _ sequence: UInt32) -> [ScriptedKernel.Reply] = { _, _ in [] }
        /// The number of dumps of scan results.
        private(set) var scans = 0
        private(set) var opened = 0
        private(set) lazy var kernel = ScriptedKernel { [unowned self] kernel, request in
            let sequence = ScriptedKernel.sequences(request)[0]
            let command = request[4] == 16 ? 0 : request[16]
            let end = ScriptedKernel.Reply.bytes(ScriptedKernel.end(sequence: sequence))
            switch command {
            case 0: kernel.queue.append(.bytes(Message.family(sequence: sequence).bytes))
            case 5:
                kernel.queue.append(
                    .bytes(Message.interface(mode: mode, ssid: ssid, sequence: sequence).bytes))
            case 17: kernel.queue += stations.map { .bytes($0(sequence).bytes) } + [end]
            case 32:
                scans += 1
                kernel.queue += scan(scans, sequence) + [end]
            default: Issue.record("command \(command)")
            }
        }
        /// The clock, in milliseconds.
        var clock: Int64 = 0
        private(set) lazy var query = WirelessQuery(
            open: { [unowned self] () throws(NetlinkError) in
                opened += 1
                // A new socket does not receive the old one's replies.
                kernel.queue.removeAll()
                return kernel
            }, now: { [unowned self] in clock * 1_000_000 })

        /// Connects to `accessPoint`, the only one in range.
        func connect(
            _ accessPoint: [UInt8], _ name: String, associatedAt: UInt64? = 1_000_000_000, age: UInt32? = nil
        ) {
            stations = [
                { .station(accessPoint, associatedAt: associatedAt, connectedTime: age, sequence: $0) }
            ]
            scan = { _, sequence in
                [.bytes(Message.scan(accessPoint, status: 1, name: name, sequence: sequence).bytes)]
            }
        }

        func state() -> WirelessState? {
            if case .wireless(let state) = query.state(of: 3) { state } else { nil }
        }
    }

    @Test("the name comes from the scan results where the interface does not tell it")
    func scanResult() {
        let air = Air()
        air.connect(Self.first, "lab")
        #expect(
            air.state() == WirelessState(mode: 2, ssid: "lab", accessPoint: Self.first, signal: -42))
    }

    @Test("where the interface names the network, and in modes without a network, no scan results are read")
    func unneeded() {
        let air = Air()
        air.connect(Self.first, "scanned")
        air.ssid = "told"
        #expect(air.state()?.ssid == "told")
        air.ssid = nil
        for mode: UInt32 in [1, 3, 6] {
            air.mode = mode
            #expect(air.state() == WirelessState(mode: mode))
        }
        #expect(air.scans == 0)
    }

    @Test(
        "a driver that tells of no stations costs no dump with every question: pauses double, events end them"
    )
    func noStations() {
        let air = Air()
        air.scan = { _, sequence in
            [.bytes(Message.scan(Self.first, status: 1, name: "lab", sequence: sequence).bytes)]
        }
        var read: [Int64] = []
        for clock in 0..<1000 as Range<Int64> {
            air.clock = clock
            let before = air.scans
            #expect(air.state() == WirelessState(mode: 2, ssid: "lab", accessPoint: Self.first))
            if air.scans > before { read.append(clock) }
        }
        #expect(read == [0, 100, 300, 700])
        let link = LinkState(index: 3, name: "wlan0")
        for (event, isNews) in [
            (.wirelessChanged(index: 3), true), (.linkChanged(link, isWirelessNoise: false), true),
            (.linkChanged(link, isWirelessNoise: true), false), (.wirelessChanged(index: 4), false),
            (.wirelessChanged(index: 0), true), (.linkRemoved(index: 3), true), (.requested, false),
            (.overrun, true), (.resumed(after: .seconds(3)), true), (.ruleChanged(.ipv4), false),
        ] as [(NetworkEvent, Bool)] {
            let before = air.scans
            air.query.handle(event)
            _ = air.state()
            #expect((air.scans > before) == isNews, "\(event)")
        }
    }

    @Test(
        "a network that the scan results do not name is asked for with pauses as well, and found in the end")
    func lateResults() {
        let air = Air()
        air.connect(Self.first, "lab")
        air.scan = { _, _ in [] }
        for clock in 0..<90 as Range<Int64> {
            air.clock = clock
            #expect(air.state()?.ssid == nil)
        }
        #expect(air.scans == 1)
        air.connect(Self.first, "lab")
        air.clock = 100
        #expect(air.state()?.ssid == "lab")
        air.clock = 5000
        #expect(air.state()?.ssid == "lab")
        #expect(air.scans == 2)
        // Another association is read at once.
        air.connect(Self.second, "other", associatedAt: 2_000_000_000)
        #expect(air.state()?.ssid == "other")
        #expect(air.scans == 3)
    }

    @Test("the scan results are read once for each association, the signal every time")
    func caching() {
        let air = Air()
        air.connect(Self.first, "lab")
        for age: UInt32 in [1, 2, 9] {
            air.stations = [
                {
                    .station(
                        Self.first, signal: Int8(age), associatedAt: 7, connectedTime: age, sequence: $0)
                }
            ]
            #expect(
                air.state()
                    == WirelessState(mode: 2, ssid: "lab", accessPoint: Self.first, signal: Int8(age)))
        }
        #expect(air.scans == 1)
        // A hidden name is read once as well.
        air.connect(Self.second, "")
        #expect(air.state() == WirelessState(mode: 2, accessPoint: Self.second, signal: -42))
        #expect(air.state()?.ssid == nil)
        #expect(air.scans == 2)
    }

    @Test("roaming shows in the access point, and the name is asked anew")
    func roaming() {
        let air = Air()
        air.connect(Self.first, "lab")
        #expect(air.state()?.accessPoint == Self.first)
        air.connect(Self.second, "lab")
        #expect(air.state()?.accessPoint == Self.second)
        #expect(air.scans == 2)
    }

    @Test("an access point that returns under another name is asked again")
    func renamed() {
        let air = Air()
        air.connect(Self.first, "old", associatedAt: 1)
        #expect(air.state()?.ssid == "old")
        air.connect(Self.first, "new", associatedAt: 2)
        #expect(air.state()?.ssid == "new")
        // Without a start time from the driver, a younger association is another one.
        air.connect(Self.first, "newer", associatedAt: nil, age: 100)
        #expect(air.state()?.ssid == "newer")
        air.connect(Self.first, "newest", associatedAt: nil, age: 1)
        #expect(air.state()?.ssid == "newest")
    }

    @Test("while a connection goes or comes, what is said of it stays; what comes then is asked anew")
    func lost() {
        let air = Air()
        air.connect(Self.first, "old", associatedAt: nil, age: 1)
        #expect(air.state()?.ssid == "old")
        air.stations = []
        #expect(air.state() == WirelessState(mode: 2, ssid: "old", accessPoint: Self.first))
        // Not associated yet.
        air.stations = [
            { .station(Self.second, isAssociated: false, sequence: $0) }
        ]
        #expect(air.state() == WirelessState(mode: 2, ssid: "old", accessPoint: Self.first))
        #expect(air.scans == 1)
        air.connect(Self.first, "new", associatedAt: nil, age: 9)
        #expect(air.state()?.ssid == "new")
        #expect(air.scans == 2)
    }

    @Test("hundreds of networks: one is in use, and the others leave nothing behind")
    func crowd() {
        let air = Air()
        air.connect(Self.first, "lab")
        air.scan = { _, sequence in
            (0..<1000).map { number in
                let address: [UInt8] = [6, 0, 0, 0, UInt8(number >> 8), UInt8(number & 255)]
                return .bytes(
                    number == 700
                        ? Message.scan(Self.first, status: 1, name: "lab", sequence: sequence).bytes
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
                    Self.second, status: nil, name: "other", sequence: sequence, flags: Self.interrupted
                ).bytes)
        }
        let air = Air()
        air.connect(Self.first, "lab")
        air.scan = { dump, sequence in
            dump == 1
                ? [other(sequence)]
                : [
                    other(sequence),
                    .bytes(
                        Message.scan(
                            Self.first, status: 1, name: "lab", sequence: sequence, flags: Self.interrupted
                        ).bytes),
                ]
        }
        #expect(air.state()?.ssid == "lab")
        #expect(air.scans == 2)
        // Always interrupted: the question ends, and a later evaluation repeats it.
        let busy = Air()
        busy.connect(Self.first, "lab")
        busy.scan = { _, sequence in [other(sequence)] }
        #expect(busy.state() == WirelessState(mode: 2, accessPoint: Self.first, signal: -42))
        #expect(busy.scans == 3)
        busy.connect(Self.first, "lab")
        busy.clock += 100
        #expect(busy.state()?.ssid == "lab")
    }

    @Test("a change in the middle of the dump: of two networks in use, the station's own counts")
    func twice() {
        for order in [[Self.first, Self.second], [Self.second, Self.first]] {
            let air = Air()
            air.connect(Self.second, "new")
            air.scan = { _, sequence in
                order.map {
                    .bytes(
                        Message.scan(
                            $0, status: 1, name: $0 == Self.second ? "new" : "old", sequence: sequence,
                            flags: Self.interrupted
                        ).bytes)
                }
            }
            #expect(air.state()?.ssid == "new")
        }
    }

    @Test("a name that may be another access point's is not remembered")
    func justRoamed() {
        let air = Air()
        air.connect(Self.first, "old")
        let scan = air.scan
        air.connect(Self.second, "new")
        let later = air.scan
        air.scan = scan
        #expect(air.state()?.accessPoint == Self.second)
        air.scan = later
        air.clock += 100
        #expect(air.state()?.ssid == "new")
    }

    @Test("a driver without stations: the access point is the scan result's")
    func withoutStations() {
        let air = Air()
        air.connect(Self.first, "lab")
        air.stations = []
        #expect(air.state() == WirelessState(mode: 2, ssid: "lab", accessPoint: Self.first))
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
            let air = Air()
            air.connect(Self.first, "lab")
            let scan = air.scan
            air.scan = { _, sequence in reply(sequence) }
            #expect(air.state() == WirelessState(mode: 2, accessPoint: Self.first, signal: -42))
            // The end of the dump that was not read.
            air.kernel.queue.removeAll()
            air.scan = scan
            air.clock += 100
            #expect(air.state()?.ssid == "lab")
        }
    }

    @Test("an entry longer than the buffer: it grows, and the dump is asked for again")
    func longEntry() {
        let air = Air()
        air.connect(Self.first, "lab")
        let padding = (0..<80).flatMap { _ in [221, 250] + [UInt8](repeating: 0x55, count: 250) }
        air.scan = { _, sequence in
            [
                .bytes(
                    Message.scan(
                        Self.first, status: 1, elements: padding + [0, 3] + Array("lab".utf8),
                        sequence: sequence
                    ).bytes)
            ]
        }
        #expect(air.state()?.ssid == "lab")
        #expect(air.opened == 2)
        #expect(air.scans == 2)
    }
}
