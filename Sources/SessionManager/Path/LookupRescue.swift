// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore
import SessionCore

/// Finds the transfers whose host the system has been looking up for long, and has each host looked up
/// elsewhere (``HostLookup``); on the loop's thread.
///
/// libcurl looks names up in threads of its own, and tells only that a transfer has no connection yet.
final class LookupRescue {
    /// The transfers of one origin that have no address yet.
    private struct Wait {
        let origin: String
        var transfers: [Transfer]
        var began: Int64
    }

    private static let shortestLook: Int64 = 250_000_000
    /// How many addresses are kept.
    private static let capacity = 64

    private let reactor: Reactor
    private let turn: EngineTurn
    private let pools: ConnectionPools
    private let monitor: () -> ConnectionMonitor
    private let onResult: ([Transfer], HostLookup.Result) -> Void
    // Lists, since they are short.
    private var lookups: [(origin: String, lookup: HostLookup)] = []
    /// The addresses that connections were made to, the newest last.
    private var kept: [(origin: String, address: IPAddress)] = []
    private var timer: TimerID?
    /// Whether the last origin is this machine: mostly the next transfer has the same.
    private var last = (origin: "", isOnThisMachine: false)

    /// - Parameters:
    ///   - monitor: gives the monitor, which is made with the first question.
    ///   - onResult: called with the transfers that wait for a host, and what they have to do.
    init(
        on reactor: Reactor, turn: EngineTurn, pools: ConnectionPools,
        monitor: @escaping () -> ConnectionMonitor,
        onResult: @escaping ([Transfer], HostLookup.Result) -> Void
    ) {
        self.reactor = reactor
        self.turn = turn
        self.pools = pools
        self.monitor = monitor
        self.onResult = onResult
    }

    /// A transfer begins.
    func begin(_ transfer: Transfer) {
        guard timer == nil else { return }
        if transfer.origin != last.origin {
            last = (transfer.origin, transfer.request.url.isOnThisMachine)
        }
        guard !last.isOnThisMachine else { return }
        arm(at: Reactor.now &+ LookupStateMachine.patience)
    }

    /// A connection is made to this address of an origin.
    func store(_ address: IPAddress, of origin: String) {
        if kept.last?.origin == origin { return kept[kept.count - 1].address = address }
        kept.removeAll { $0.origin == origin }
        if kept.count >= Self.capacity { kept.removeFirst() }
        kept.append((origin, address))
    }

    func close() {
        if let timer = timer.take() { _ = reactor.cancel(timer) }
        for item in lookups { item.lookup.close() }
        lookups = []
    }

    private func arm(at deadline: Int64) {
        timer = reactor.schedule(at: deadline) { [unowned self] in
            timer = nil
            look()
        }
    }

    private func look() {
        let now = Reactor.now
        let waits = waits()
        lookups.removeAll { item in
            guard !waits.contains(where: { $0.origin == item.origin }) else { return false }
            item.lookup.close()
            return true
        }
        var next = Int64.max
        for wait in waits {
            let due = wait.began &+ LookupStateMachine.patience
            if due > now {
                next = min(next, due)
            } else if !lookups.contains(where: { $0.origin == wait.origin }) {
                begin(wait)
            }
        }
        if !lookups.isEmpty { next = min(next, now &+ Self.shortestLook) }
        if next < .max, timer == nil { arm(at: max(next, now &+ Self.shortestLook)) }
    }

    /// The transfers without an address, by origin; none of an origin to which a connection is being made.
    private func waits() -> [Wait] {
        var waits: [Wait] = []
        var connecting: [String] = []
        pools.forEachTransfer { transfer in
            guard !transfer.isTrial, transfer.hasSlot, !transfer.isSuspended, let easy = transfer.easy else {
                return
            }
            if transfer.isLookingUp {
                if let index = waits.firstIndex(where: { $0.origin == transfer.origin }) {
                    waits[index].transfers.append(transfer)
                    waits[index].began = min(waits[index].began, transfer.lastActivity)
                } else {
                    let began = transfer.lastActivity
                    waits.append(Wait(origin: transfer.origin, transfers: [transfer], began: began))
                }
            } else if ConnectionPair(easy) == nil {
                connecting.append(transfer.origin)
            }
        }
        waits.removeAll { connecting.contains($0.origin) }
        return waits
    }

    private func transfers(of origin: String) -> [Transfer] {
        waits().first { $0.origin == origin }?.transfers ?? []
    }

    private func begin(_ wait: Wait) {
        guard let control = turn.control, let transfer = wait.transfers.first,
            let host = control.hostToLookUp(of: transfer)
        else { return }
        let monitor = monitor()
        guard monitor.rescues else { return }
        let origin = wait.origin
        let lookup = HostLookup(
            host, of: transfer.request, kept: kept.last { $0.origin == origin }?.address, began: wait.began,
            monitor, on: reactor, control: control,
            mayUse: { [unowned self] detour in
                transfers(of: origin).lazy.compactMap { $0.delegate?.transferMayUse($0, detour) }.first
            },
            onResult: { [unowned self] result in
                let transfers = transfers(of: origin)
                if let index = lookups.firstIndex(where: { $0.origin == origin }) {
                    lookups.remove(at: index).lookup.close()
                }
                if case .use(let addresses) = result { control.use(addresses, of: transfer.request.url) }
                onResult(transfers, result)
            })
        lookups.append((origin, lookup))
    }
}
