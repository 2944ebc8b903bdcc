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
        var transfers: [Transfer] = []
        var began = Int64.max
    }

    private static let shortestLook: Int64 = 250_000_000
    /// How many addresses are kept.
    private static let capacity = 64

    private let reactor: Reactor
    private let turn: EngineTurn
    private let pools: ConnectionPools
    private let monitor: () -> ConnectionMonitor
    private let onResult: ([Transfer], HostLookup.Result) -> Void
    private var lookups: [String: HostLookup] = [:]
    /// The addresses that connections were made to, by origin.
    private var kept: [String: IPAddress] = [:]
    private var timer: TimerID?

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
        guard timer == nil, !transfer.request.url.isOnThisMachine else { return }
        arm(at: Reactor.now &+ LookupStateMachine.patience)
    }

    /// A connection is made to this address of an origin.
    func keep(_ address: IPAddress, of origin: String) {
        if kept.count >= Self.capacity { kept = [:] }
        kept[origin] = address
    }

    func close() {
        if let timer = timer.take() { _ = reactor.cancel(timer) }
        for lookup in lookups.values { lookup.close() }
        lookups = [:]
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
        for (origin, lookup) in lookups where waits[origin] == nil {
            lookup.close()
            lookups[origin] = nil
        }
        var next = Int64.max
        for (origin, wait) in waits {
            let due = wait.began &+ LookupStateMachine.patience
            if due > now {
                next = min(next, due)
            } else if lookups[origin] == nil {
                begin(origin, wait)
            }
        }
        if !lookups.isEmpty { next = min(next, now &+ Self.shortestLook) }
        if next < .max, timer == nil { arm(at: max(next, now &+ Self.shortestLook)) }
    }

    /// The transfers without an address, by origin; none of an origin to which a connection is being made.
    private func waits() -> [String: Wait] {
        var waits: [String: Wait] = [:]
        var connecting: Set<String> = []
        pools.forEachTransfer { transfer in
            guard !transfer.isTrial, transfer.hasSlot, !transfer.isSuspended, let easy = transfer.easy else {
                return
            }
            if transfer.isLookingUp {
                waits[transfer.origin, default: Wait()].transfers.append(transfer)
                let began = min(waits[transfer.origin]?.began ?? .max, transfer.lastActivity)
                waits[transfer.origin]?.began = began
            } else if ConnectionPair(easy) == nil {
                connecting.insert(transfer.origin)
            }
        }
        for origin in connecting { waits[origin] = nil }
        return waits
    }

    private func begin(_ origin: String, _ wait: Wait) {
        guard let control = turn.control, let transfer = wait.transfers.first,
            let host = control.hostToLookUp(of: transfer)
        else { return }
        let monitor = monitor()
        guard monitor.rescues else { return }
        lookups[origin] = HostLookup(
            host, of: transfer.request, kept: kept[origin], began: wait.began, monitor, on: reactor,
            control: control,
            mayUse: { [unowned self] detour in
                waits()[origin]?.transfers.contains { $0.delegate?.transferMayUse($0, detour) == true }
                    == true
            },
            onResult: { [unowned self] result in
                let transfers = waits()[origin]?.transfers ?? []
                lookups.removeValue(forKey: origin)?.close()
                if case .use(let addresses) = result { control.use(addresses, of: transfer.request.url) }
                onResult(transfers, result)
            })
    }
}
