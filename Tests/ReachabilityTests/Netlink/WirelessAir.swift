// SPDX-License-Identifier: Apache-2.0

import Reachability
import ReachabilityCore
import Testing

/// A Wi-Fi interface in nl80211; the next question sees the changes of a test.
final class WirelessAir {
    private typealias Message = WirelessBytes.Message

    static let interrupted: Int32 = 0x12
    static let first: [UInt8] = [2, 0, 0, 0, 1, 0]
    static let second: [UInt8] = [2, 0, 0, 0, 2, 0]

    var mode: UInt32 = 2
    var ssid: String?
    var stations: [(UInt32) -> WirelessBytes.Message] = []
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
