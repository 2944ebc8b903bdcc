// SPDX-License-Identifier: Apache-2.0

import CCurl
import EventLoop
import FoundationEssentials
import Glibc
import SessionCore

/// Carries out transfers: libcurl's multi handle on the loop.
///
/// Lean in the sense of doing nothing twice: libcurl's timer is a deadline of the loop, what is due at once runs before
/// the loop waits, changes of sockets are gathered until then, and finished transfers make room for the next before
/// the kernel is asked again. Lives on the loop's thread.
final class TransferEngine {
    let reactor: Reactor
    let configuration: SessionConfiguration
    /// How servers are judged: one way for all connections of this engine.
    let tls: TLSSettings
    private let sendsBodiesByHTTP2: Bool
    /// What the environment said about proxies when the engine was made.
    private let proxyEnvironment: [String: String]
    /// Whether there can be a proxy: libcurl would look for one in the environment before each transfer.
    let mayHaveProxy: Bool
    /// What a delegate has accepted; nil where none is asked about servers.
    let approvals: ServerApprovals?
    /// libcurl's multi handles, with the connections; one, unless a path was left.
    var pools: [ConnectionPool] = []
    /// How many there have been.
    var poolCount = 0
    let share: UnsafeMutableRawPointer?
    /// Read by libcurl with each transfer, so it lives as long.
    let addresses: UnsafeMutablePointer<curl_slist>?
    /// Handles without work; the newest is used first, since it is warm.
    var idle: [EasyHandle] = []
    var running: [Transfer] = []
    var slots: HostSlots<Transfer>
    /// How many transfers stand in the line of their origin.
    var waiting = 0
    /// When libcurl was called last.
    let clock = LoopClock()
    /// Ends long calls.
    var turn = TurnLimit()
    var sweep: TimerID?
    var sweepDeadline = Int64.max

    /// Those who wait for tasks that have ended in this turn.
    var waiters: [UnsafeContinuation<Void, Never>] = []
    var hook: HookID?
    /// libcurl wants to be called at once.
    var isDue = false
    /// libcurl may have finished something.
    var isDirty = false
    /// Inside libcurl, where it must not be called again (libcurl-multi(3)).
    var isInside = false
    /// What has to wait until libcurl is left.
    var afterwards: [(TransferEngine) -> Void] = []
    /// libcurl's descriptors.
    var sockets = DescriptorTable<SocketState>()
    /// Sees paths die; made with the first connection that leaves this machine.
    var watch: PathWatch?
    /// Whether connections are bound to an interface that has a path of its own while the one that the kernel chooses is dead.
    var rescues = true
    /// When links, addresses or routes have changed for the last time, as far as anybody has told.
    private(set) var pathChange: Int64?
    var isClosed = false
    /// The last URL and its origin: mostly the next transfer has the same.
    private var lastAddress = (url: "", origin: "", isSecure: false)
    /// The last limit of silence as a count, for the same reason.
    var lastInterval = (value: Duration.zero, nanoseconds: Int64(0))

    init(
        reactor: Reactor, configuration: SessionConfiguration, policy: SecurityPolicy, asks: Bool
    ) throws(SessionError) {
        let library = try CurlLibrary.load()
        tls = try TLSSettings(policy, library, asks: asks, tlsProxy: configuration.tlsProxy)
        approvals = asks ? ServerApprovals() : nil
        self.reactor = reactor
        self.configuration = configuration
        proxyEnvironment = ProxyChoice.environment()
        mayHaveProxy = ProxyChoice.isPossible(
            configured: configuration.proxy, environment: proxyEnvironment)
        sendsBodiesByHTTP2 = configuration.sendsBodiesByHTTP2 ?? library.sendsBodiesByHTTP2
        slots = HostSlots(limit: configuration.maximumConnectionsPerHost)
        share = ccurl_share_init()
        if let share { _ = ccurl_share_set(share, CURL_LOCK_DATA_COOKIE) }
        addresses = configuration.hostAddresses.reduce(nil) { list, entry in
            entry.withCString { ccurl_list_append(list, $0) } ?? list
        }
        hook = reactor.beforeWait { [unowned self] in self.work() }
    }

    deinit { close() }

    /// Whether a request over TLS cannot share its connection with others.
    func keepsAlone(_ request: SessionRequest) -> Bool {
        switch request.sharedOptions.value.maximumHTTPVersion {
        case .http1_0, .http1_1: true
        case .http2, .http3, nil: request.body != nil && !sendsBodiesByHTTP2
        }
    }

    /// The proxy that a URL is asked for through; nil where its server is spoken to directly.
    func proxy(for url: URL) -> ProxyChoice? {
        guard mayHaveProxy else { return nil }
        return ProxyChoice(for: url, configured: configuration.proxy, environment: proxyEnvironment)
    }

    /// The proxy that passes on requests for a URL, and may answer them in the server's place: one of HTTP, where no TLS goes through it.
    func forwardingProxy(for url: URL) -> ProxyChoice? {
        guard let proxy = proxy(for: url), proxy.speaksHTTP else { return nil }
        return Origin(url)?.isSecure == false ? proxy : nil
    }

    /// The origin of a URL that is written as text, and whether it is spoken to by TLS.
    func origin(of address: String) -> (origin: String, isSecure: Bool) {
        if address != lastAddress.url {
            let origin = address.origin
            lastAddress = (address, origin, origin.hasPrefix("https:"))
        }
        return (lastAddress.origin, lastAddress.isSecure)
    }

    /// Links, addresses or routes have changed at this instant.
    func pathsChanged() { pathChange = Reactor.now }

    /// How many transfers run or wait.
    var count: Int { running.count + waiting }

    /// Ends everything that is left and closes all connections; on the loop's thread.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        wakeWaiters()
        if let hook { reactor.removeHook(hook) }
        watch?.close()
        if let sweep { _ = reactor.cancel(sweep) }
        for transfer in running {
            if let easy = transfer.easy, let pool = transfer.pool {
                _ = ccurl_multi_remove(pool.multi, easy.raw)
                easy.transfer = nil
            }
            transfer.pool = nil
            transfer.abandon()
        }
        running = []
        // Handles before the multi handle, the multi handle before what they share (curl_share_cleanup(3)).
        idle = []
        for pool in pools { pool.close() }
        pools = []
        if let share { _ = ccurl_share_cleanup(share) }
        ccurl_list_free(addresses)
        sockets.forEach { _, state in if let watch = state.watch { reactor.unwatch(watch) } }
        sockets = DescriptorTable()
    }
}

// Transfers: from the place in the queue to the result.
extension TransferEngine {
    /// Has a transfer carried out as soon as its origin has room.
    func start(_ transfer: Transfer) {
        if takePlace(transfer) { begin(transfer) }
    }

    /// Ends a transfer that nobody wants any more; its observer is not called.
    func cancel(_ transfer: Transfer) {
        transfer.abandon()
        leaveLine(transfer)
        if transfer.easy != nil {
            outside { $0.release(transfer) }
        }
    }

    /// Whether a transfer runs, is suspended or waits for its place.
    func isUnderWay(_ transfer: Transfer) -> Bool { transfer.observer != nil }

    /// Ends a transfer with an error.
    func fail(_ transfer: Transfer, _ error: SessionError) {
        outside { engine in
            guard let easy = transfer.easy else { return }
            let metrics = Boxed(TransferMetrics(easy, version: transfer.version))
            engine.release(transfer)
            transfer.finish(TransferEnd(error: error, metrics: metrics))
        }
    }

    /// Lets the content go on after a sink was full, or the body after its source had nothing.
    func resume(_ transfer: Transfer) {
        guard transfer.hasPlace, !transfer.isSuspended else { return }
        outside { engine in
            guard let easy = transfer.easy else { return }
            transfer.resumeBody()
            // libcurl hands over what it has kept at once.
            engine.clock.update()
            transfer.lastActivity = engine.clock.now
            engine.unpause(transfer, easy)
        }
    }

    func handle() throws(SessionError) -> EasyHandle {
        if let easy = idle.popLast() { return easy }
        let easy = try EasyHandle(share: share, engine: self)
        try tls.configure(easy.raw)
        return easy
    }

    func begin(_ transfer: Transfer) {
        do throws(SessionError) {
            try transfer.prepareBody()
            let easy = try handle()
            transfer.easy = easy
            easy.transfer = transfer
            easy.prepare(transfer, configuration)
            if transfer.isSecure {
                transfer.evaluator = tls.begin(
                    easy.raw, host: transfer.request.url.host() ?? "", judge: transfer.judge)
            }
            transfer.index = running.count
            running.append(transfer)
            watchOver(transfer)
            let pool = try pool(for: transfer)
            transfer.pool = pool
            pool.count += 1
            pool.total += 1
            transfer.ordinal = pool.count == 1 ? pool.total : nil
            // libcurl puts them into the DNS cache of the pool, and forgets them.
            if let addresses, easy.addressedPool != pool.number {
                easy.set(CURLOPT_RESOLVE, pointer: addresses)
                easy.addressedPool = pool.number
            }
            var code = CURLM_OK
            inside { code = ccurl_multi_add(pool.multi, easy.raw) }
            guard code == CURLM_OK else {
                throw SessionError(.outOfResources, "libcurl: \(String(cString: ccurl_multi_text(code)))")
            }
        } catch {
            release(transfer)
            // Not from inside `start`: whoever started it is not ready to hear of its end.
            later { _ in transfer.finish(TransferEnd(error: error, metrics: Boxed(TransferMetrics()))) }
        }
    }

    /// Takes the handle away from a transfer and lets the next one of its origin begin.
    func release(_ transfer: Transfer) {
        if let easy = transfer.easy {
            let last = running.removeLast()
            if last !== transfer {
                running[transfer.index] = last
                last.index = transfer.index
            }
            if let pool = transfer.pool {
                inside { _ = ccurl_multi_remove(pool.multi, easy.raw) }
                pool.count -= 1
                if pool.isRetired, pool.count == 0 { later { $0.drop(pool) } }
            }
            tls.end(easy.raw)
            easy.transfer = nil
            transfer.easy = nil
            transfer.pool = nil
            if idle.count < configuration.maximumIdleHandles { idle.append(easy) }
        }
        slots.forgetIdleHosts()
        leaveLine(transfer)
        givePlaceBack(transfer)
    }

    /// Hands over what libcurl has finished.
    func reap(_ pool: ConnectionPool) {
        var code = CURLE_OK
        while let raw = ccurl_multi_next_done(pool.multi, &code) {
            guard let easy = EasyHandle.of(raw), let transfer = easy.transfer else { continue }
            let metrics = Boxed(TransferMetrics(easy, version: transfer.version))
            var error: SessionError?
            if code != CURLE_OK || transfer.failure != nil {
                error = transfer.failure ?? transfer.judged(easy.error(code, transfer, tls))
            }
            if error == nil, transfer.response == nil {
                error = SessionError(
                    .badServerResponse, "the connection ended before the header fields did",
                    advice: "try again; if it happens always, the server is broken",
                    failingURL: transfer.request.url)
            }
            release(transfer)
            transfer.finish(TransferEnd(error: error, metrics: metrics))
        }
    }
}
