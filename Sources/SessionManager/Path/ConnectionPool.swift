// SPDX-License-Identifier: Apache-2.0

import CCurl
import EventLoop
import SessionCore

/// The connections that transfers of one path share: one of libcurl's multi handles, with its DNS cache.
///
/// libcurl cannot be told to use a connection no more. So when the path of one dies, or the kernel turns to another path, the whole pool
/// is retired: what runs in it may end, and what comes gets new connections and asks the name servers again, which may be others.
final class ConnectionPool {
    /// libcurl's `CURLM *`.
    let multi: UnsafeMutableRawPointer
    /// What its sockets are bound to, where the kernel's own choice is dead.
    let binding: PathBinding
    /// Whether it is for transfers that share no connection, of origins that may speak HTTP/2: libcurl takes all connections to a host for
    /// what the last one has turned out to be.
    let isForAlone: Bool
    /// What their traffic is for, which all packets of a connection say.
    let service: NetworkServiceType
    /// The engine's first, second, … pool.
    let number: Int
    /// Not counted: an engine closes its pools before it goes.
    unowned(unsafe) let engine: TransferEngine
    /// When libcurl wants to be called.
    var deadline = Int64.max
    /// Calls it, at the deadline or before.
    var timer: TimerID?
    var timerDeadline = Int64.max
    /// libcurl wants to be called at once.
    var isDue = false
    /// libcurl may have finished something.
    var isDirty = false
    /// How many transfers are in it.
    var count = 0
    /// How many have been in it.
    var total = 0
    /// Takes no more transfers.
    var isRetired = false
    private var isClosed = false

    init(
        _ engine: TransferEngine, binding: PathBinding, isForAlone: Bool, service: NetworkServiceType
    ) throws(SessionError) {
        guard let multi = ccurl_multi_init() else {
            throw SessionError(.outOfResources, "libcurl has no memory for a session")
        }
        self.multi = multi
        self.binding = binding
        self.isForAlone = isForAlone
        self.service = service
        engine.poolCount += 1
        number = engine.poolCount
        self.engine = engine
        _ = ccurl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CCURL_PIPELINING_MULTIPLEX))
        _ = ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, engine.configuration.maximumIdleConnections)
        let address = Unmanaged.passUnretained(self).toOpaque()
        _ = ccurl_multi_set_callbacks(
            multi, TransferEngine.onSocket, TransferEngine.onTimer, address)
    }

    /// Closes its connections; not inside libcurl.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        if let timer { _ = engine.reactor.cancel(timer) }
        timer = nil
        isDue = false
        isDirty = false
        _ = ccurl_multi_cleanup(multi)
    }

    /// The pool behind libcurl's pointer, which its engine holds while libcurl runs.
    static func with(_ user: UnsafeMutableRawPointer?, _ body: (ConnectionPool) -> Void) {
        guard let user else { return }
        Unmanaged<ConnectionPool>.fromOpaque(user)._withUnsafeGuaranteedRef { body($0) }
    }
}

// Pools: one that is used, and those whose last transfers still run.
extension TransferEngine {
    /// The pool for what is bound so, is for the same, and shares connections, or does not.
    func pool(for transfer: Transfer) throws(SessionError) -> ConnectionPool {
        let isForAlone = transfer.isAlone && !slots.isKnownNotToMultiplex(transfer.origin)
        let service = transfer.options.networkServiceType
        for pool in pools
        where !pool.isRetired && pool.isForAlone == isForAlone && pool.service == service
            && pool.binding == transfer.binding
        {
            return pool
        }
        let pool = try ConnectionPool(
            self, binding: transfer.binding, isForAlone: isForAlone, service: service)
        pools.append(pool)
        return pool
    }

    /// Has a pool take no more transfers; it is closed when its last one has left.
    func retire(_ pool: ConnectionPool) {
        guard !pool.isRetired else { return }
        pool.isRetired = true
        if pool.count == 0 { later { $0.drop(pool) } }
    }

    /// Closes a retired pool that nobody is in.
    func drop(_ pool: ConnectionPool) {
        guard pool.isRetired, pool.count == 0, let index = pools.firstIndex(where: { $0 === pool }) else {
            return
        }
        pools.remove(at: index)
        // Its connections are closed by the callback, which looks them up here.
        inside { pool.close() }
    }
}
