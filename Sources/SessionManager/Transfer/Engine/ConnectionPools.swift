// SPDX-License-Identifier: Apache-2.0

import CCurl
import EventLoop
import SessionCore

/// A transfer among those of its pool; written in this file alone.
struct PoolMembership {
    /// The pool, while libcurl carries the transfer out.
    fileprivate(set) var pool: ConnectionPool?
    /// Its index among the pool's transfers.
    fileprivate(set) var index = 0
    /// Its number among all of the pool's, where it was alone there when it began.
    fileprivate(set) var ordinal: Int?

    /// Whether it has been alone in the pool since it began.
    var wasAlwaysAlone: Bool { ordinal != nil && ordinal == pool?.total }
}

/// The connections that transfers of one key share: one multi handle of libcurl, with its DNS cache.
///
/// A key is a path, and what else transfers must agree in to share a connection.
///
/// libcurl has no call to stop using one connection. So when the path of a connection dies, or the kernel
/// turns to another path, the whole pool is retired: its transfers may end, and later ones get new
/// connections and ask the name servers again, which may be others.
final class ConnectionPool {
    /// What the transfers of a pool have in common.
    struct Key: Equatable {
        /// What its sockets are bound to, where the path that the kernel chooses is dead.
        let binding: PathBinding
        /// Whether its transfers share no connection, on origins that may speak HTTP/2: libcurl takes all
        /// connections to a host for what the last one has turned out to be.
        let isExclusive: Bool
        /// What their traffic is for, which marks all packets of a connection.
        let service: NetworkServiceType
    }

    let key: Key
    /// The engine's first, second, … pool.
    let number: Int
    let multi: CurlMulti
    private(set) var transfers: [Transfer] = []
    /// How many transfers have been in it.
    private(set) var total = 0
    /// Whether it takes no more transfers.
    fileprivate(set) var isRetired = false

    fileprivate init(_ key: Key, number: Int, _ multi: CurlMulti) {
        self.key = key
        self.number = number
        self.multi = multi
    }

    fileprivate func enter(_ transfer: Transfer) {
        transfer.pooling.pool = self
        transfer.pooling.index = transfers.count
        transfers.append(transfer)
        total += 1
        transfer.pooling.ordinal = transfers.count == 1 ? total : nil
    }

    fileprivate func remove(_ transfer: Transfer) {
        let last = transfers.removeLast()
        if last !== transfer {
            transfers[transfer.pooling.index] = last
            last.pooling.index = transfer.pooling.index
        }
        transfer.pooling.pool = nil
    }
}

/// The pools of an engine: one for each key in use, and those of paths that were left, whose last transfers
/// still run; on the loop's thread.
final class ConnectionPools {
    private var pools: [ConnectionPool] = []
    private var count = 0
    private let turn: EngineTurn
    private let sockets: CurlSockets
    private let maximumIdleConnections: Int

    init(turn: EngineTurn, sockets: CurlSockets, maximumIdleConnections: Int) {
        self.turn = turn
        self.sockets = sockets
        self.maximumIdleConnections = maximumIdleConnections
    }

    /// Calls libcurl where it wants to be called at once; false where that is nowhere.
    func actIfDue() -> Bool {
        guard turn.isDue else { return false }
        turn.isDue = false
        var acted = false
        for pool in pools where pool.multi.actIfDue() { acted = true }
        return acted
    }

    /// Hands over the transfers that have ended; false where there can be none.
    func collectFinished(_ handle: (EasyHandle, CURLcode) -> Void) -> Bool {
        guard turn.mayHaveFinished else { return false }
        turn.mayHaveFinished = false
        var found = false
        for pool in pools where pool.multi.collectFinished(handle) { found = true }
        return found
    }

    /// Puts a transfer into the pool with its key.
    func enter(_ transfer: Transfer, isExclusive: Bool) throws(SessionError) -> ConnectionPool {
        let key = ConnectionPool.Key(
            binding: transfer.binding, isExclusive: isExclusive,
            service: transfer.options.networkServiceType)
        let pool: ConnectionPool
        if let open = pools.first(where: { !$0.isRetired && $0.key == key }) {
            pool = open
        } else {
            pool = try add(key)
        }
        pool.enter(transfer)
        return pool
    }

    private func add(_ key: ConnectionPool.Key) throws(SessionError) -> ConnectionPool {
        let multi = try CurlMulti(
            turn: turn, sockets: sockets, maximumIdleConnections: maximumIdleConnections)
        count += 1
        let pool = ConnectionPool(key, number: count, multi)
        pools.append(pool)
        return pool
    }

    /// Takes a transfer and its handle out of their pool.
    func remove(_ transfer: Transfer, _ easy: EasyHandle) {
        guard let pool = transfer.pool else { return }
        pool.multi.remove(easy)
        pool.remove(transfer)
        if pool.isRetired { closeSoon(pool) }
    }

    /// Has pools take no more transfers; each is closed when its last one has left.
    func retire(where condition: (ConnectionPool) -> Bool) -> [ConnectionPool] {
        let retired = pools.filter(condition)
        for pool in retired where !pool.isRetired {
            pool.isRetired = true
            closeSoon(pool)
        }
        return retired
    }

    private func closeSoon(_ pool: ConnectionPool) {
        guard pool.transfers.isEmpty else { return }
        turn.later { [self] in
            guard let index = pools.firstIndex(where: { $0 === pool }) else { return }
            pools.remove(at: index)
            pool.multi.close()
        }
    }

    func forEachTransfer(_ body: (Transfer) -> Void) {
        for pool in pools {
            for transfer in pool.transfers { body(transfer) }
        }
    }

    /// Takes all transfers out of libcurl, and calls `body` with each.
    func removeTransfers(_ body: (Transfer) -> Void) {
        forEachTransfer { transfer in
            if let easy = transfer.easy { transfer.pool?.multi.remove(easy) }
            transfer.pooling.pool = nil
            body(transfer)
        }
    }

    /// Closes all connections.
    func close() {
        for pool in pools { pool.multi.close() }
        pools = []
    }
}
