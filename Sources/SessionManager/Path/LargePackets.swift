// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import SessionCore

/// What is known of lines that lose large packets and carry small ones; on the loop's thread.
///
/// A connection whose full segments are never acknowledged is one sign, a SYN of another connection that is
/// answered on the same line the other.
final class LargePackets {
    private struct Try {
        let began: Int64
        let item: ConnectTry?
        var isAnswered = false
    }

    /// How long an answer to a SYN counts, and how long traffic that was moved once stays where it is, so
    /// that two lines of this kind do not send it to and fro.
    private static let period: Int64 = 30_000_000_000
    private static let movePeriod: Int64 = 300_000_000_000

    private let reactor: Reactor
    private var tries: [LineRace.Server: Try] = [:]
    /// When traffic was moved for this reason, by the name of the interface.
    private var moves: [String: Int64] = [:]

    init(on reactor: Reactor) { self.reactor = reactor }

    /// For a person who can mend it.
    static func sentence(_ server: LineRace.Server) -> String {
        "\(server.name): large packets are lost behind it, small ones are answered"
    }

    /// Full segments of a connection are not acknowledged at this look: its transfers are told why, once a
    /// SYN was answered.
    func suspect(_ server: LineRace.Server, _ transfers: [Transfer], at now: Int64) {
        if let known = tries[server], now &- known.began < Self.period {
            if known.isAnswered { Self.setFault(server, transfers) }
            return
        }
        tries = tries.filter { now &- $0.value.began < Self.period }
        let item = ConnectTry(server.peer, over: server.name, on: reactor) { [weak self] in
            self?.tries[server]?.isAnswered = true
            Self.setFault(server, transfers)
        }
        tries[server] = Try(began: now, item: item)
    }

    private static func setFault(_ server: LineRace.Server, _ transfers: [Transfer]) {
        for transfer in transfers { transfer.lineFault = sentence(server) }
    }

    /// Whether the transfers of a line may be tried over another uplink for this reason.
    func mayMove(_ server: LineRace.Server, at now: Int64) -> Bool {
        moves[server.name].map { now &- $0 >= Self.movePeriod } ?? true
    }

    func moved(_ server: LineRace.Server, at now: Int64) { moves[server.name] = now }

    func close() {
        for item in tries.values { item.item?.close() }
        tries = [:]
    }
}
