// SPDX-License-Identifier: Apache-2.0

import CCurl
import EventLoop
import FoundationEssentials
import Glibc
import SessionCore

/// Carries out transfers by libcurl on the loop; on the loop's thread.
///
/// Does nothing twice: what is due at once runs before the loop waits, changes of sockets are gathered until
/// then, and finished transfers make room for the next before the kernel is asked again.
final class TransferEngine: TransferControl, TransferCarrier {
    let reactor: Reactor
    let configuration: SessionConfiguration
    var clock: LoopClock { turn.clock }
    /// Certificates that a delegate has accepted; nil where no delegate is asked about servers.
    let approvals: ServerTrustCache?
    private let proxies: ProxyRules
    /// Whether bodies over HTTP/2 arrive as they were sent.
    let sendsBodiesByHTTP2: Bool
    /// How servers are judged: one way for all connections of this engine.
    private let tls: TLSSettings
    private let features: OptionalFeatures
    let turn: EngineTurn
    let sessionPace: SessionPace?
    private let hosts: HostAdmission
    let handles: EasyHandles
    private let sockets: CurlSockets
    private let pools: ConnectionPools
    let paths: TransferPaths
    private let idleTimeouts: IdleTimeouts
    let lookups: LinkLookups
    /// nil where it speaks to the network alone.
    let socketCalls: SocketCalls?
    private var hook: HookID?
    private var isClosed = false

    init(
        reactor: Reactor, configuration: SessionConfiguration, policy: SecurityPolicy, asks: Bool,
        sockets calls: SocketCalls? = nil
    ) throws(SessionError) {
        let library = try CurlLibrary.load()
        features = try OptionalFeatures(configuration, library)
        tls = try TLSSettings(
            policy, library, asks: asks, tlsProxy: configuration.tlsProxy,
            resolver: configuration.dnsOverHTTPS)
        approvals = asks ? ServerTrustCache() : nil
        self.reactor = reactor
        self.configuration = configuration
        socketCalls = calls
        sessionPace = SessionPace(configuration)
        turn = EngineTurn(reactor: reactor)
        proxies = ProxyRules(configured: configuration.unixSocket == nil ? configuration.proxy : "")
        sendsBodiesByHTTP2 = configuration.sendsBodiesByHTTP2 ?? library.sendsBodiesByHTTP2
        hosts = HostAdmission(
            limit: configuration.maximumConnectionsPerHost, hasHTTP2: library.hasHTTP2)
        sockets = CurlSockets(reactor: reactor)
        handles = EasyHandles(
            configuration, tls: tls, features: features, turn: turn, sockets: sockets, proxies: proxies)
        pools = ConnectionPools(
            turn: turn, sockets: sockets, maximumIdleConnections: configuration.maximumIdleConnections)
        idleTimeouts = IdleTimeouts(turn: turn, pools: pools)
        lookups = LinkLookups(reactor: reactor)
        paths = TransferPaths(
            configuration, reactor: reactor, turn: turn, sockets: sockets, pools: pools)
        sockets.observer = paths
        (turn.control, turn.carrier) = (self, self)
        hook = reactor.beforeWait { [unowned self] in work() }
    }

    deinit { close() }

    /// Runs before the loop waits.
    private func work() {
        var hasWork: Bool
        repeat {
            hasWork = pools.actIfDue()
            if pools.collectFinished({ ended($0, $1) }) { hasWork = true }
            if turn.runDeferred() { hasWork = true }
        } while hasWork
        turn.resumeWaiters()
    }

    /// Ends everything that is left and closes all connections.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        turn.close()
        if let hook { reactor.removeHook(hook) }
        paths.close()
        idleTimeouts.cancel()
        lookups.close()
        pools.forEachTransfer { $0.takeover?.connectionEnds() }
        pools.removeTransfers { transfer in
            transfer.detach()
            transfer.abandon()
        }
        handles.removeIdle()
        pools.close()
        handles.close()
        sockets.close()
    }

    // MARK: What tasks ask for

    /// Carries a transfer out as soon as its origin has room.
    func start(_ transfer: Transfer) {
        if hosts.admit(transfer) { begin(transfer) }
    }

    /// Ends a transfer without a call of its delegate.
    func cancel(_ transfer: Transfer) {
        transfer.abandon()
        hosts.leaveQueue(transfer)
        if lookups.cancel(transfer) || transfer.easy != nil {
            turn.outsideLibcurl { [self] in release(transfer) }
        }
    }

    /// What libcurl has measured of a transfer until now; nil while it does not carry it out.
    func metrics(of transfer: Transfer) -> TransferMetrics? {
        transfer.easy.map { TransferMetrics($0, version: transfer.heads.version) }
    }

    /// Stops the bytes of a transfer, or resumes them as soon as there is a slot for it; its connection is
    /// kept, unless it is still being made.
    func setSuspended(_ transfer: Transfer, _ isSuspended: Bool) {
        guard transfer.isSuspended != isSuspended else { return }
        transfer.isSuspended = isSuspended
        if let takeover = transfer.takeover, takeover.hasConnection { return takeover.setHeld(isSuspended) }
        turn.outsideLibcurl { [self] in
            // It may have ended, or changed again, until libcurl returned.
            guard transfer.isUnderWay, transfer.isSuspended == isSuspended else { return }
            if isSuspended {
                pause(transfer)
            } else if !transfer.hasSlot, transfer.slot.ticket == nil, hosts.admit(transfer) {
                proceed(transfer)
            }
        }
    }

    /// Resumes the content after a sink was full, or the body after its source had nothing.
    func resume(_ transfer: Transfer) {
        guard transfer.hasSlot, !transfer.isSuspended else { return }
        turn.outsideLibcurl { [self] in
            guard let easy = transfer.easy else { return }
            transfer.resumeBody()
            // libcurl hands over what it has kept at once.
            clock.update()
            transfer.recordActivity(at: clock.now)
            unpause(transfer, easy)
        }
    }

    /// Ends a transfer with an error.
    func fail(_ transfer: Transfer, _ error: SessionError) {
        turn.outsideLibcurl { [self] in
            guard let easy = transfer.easy else { return }
            end(transfer, easy, error)
        }
    }

    /// Has another protocol use the connection of a transfer that begins next.
    func upgrade(_ transfer: Transfer, by upgrade: any ConnectionUpgrade) {
        transfer.handOver(to: upgrade.takeover(of: UpgradedExchange(transfer, on: self)))
    }

    /// Ends a transfer whose connection another protocol uses.
    func end(_ transfer: Transfer, _ error: SessionError?) {
        if let easy = transfer.easy { end(transfer, easy, error) }
    }

    /// A connection that lasts long takes no slot of its origin any more.
    func releaseSlot(of transfer: Transfer) { proceed(hosts.release(transfer)) }

    /// Records the version of an answer that has begun: where its origin multiplexes, more transfers may run
    /// before it has ended.
    func recordVersion(of transfer: Transfer) {
        guard hosts.learns(from: transfer) else { return }
        turn.outsideLibcurl { [self] in proceed(hosts.multiplexes(transfer)) }
    }

    /// Begins the transfers that waited for a connection to their origin: over HTTP/2 they share it.
    func connected(_ transfer: Transfer) {
        guard let easy = transfer.easy else { return }
        let (isMultiplexed, isNew) = (easy.speaksHTTP2, easy.long(CURLINFO_NUM_CONNECTS) > 0)
        turn.outsideLibcurl { [self] in
            proceed(hosts.connected(transfer, isMultiplexed: isMultiplexed, isNew: isNew))
        }
    }

    /// The proxy of a URL; nil where its server is spoken to directly.
    func proxy(for url: URL) -> ProxyChoice? { proxies.proxy(for: url) }

    /// The proxy that may answer requests for a URL in the server's place.
    func forwardingProxy(for url: URL) -> ProxyChoice? { proxies.forwardingProxy(for: url) }

    /// Whether connections are bound to an interface that has a path of its own while the one that the kernel
    /// chooses is dead.
    var rescues: Bool {
        get { paths.rescues }
        set { paths.rescues = newValue }
    }

    /// Records that links, addresses or routes have changed now.
    func pathsChanged() { paths.recordChange() }

    /// When links, addresses or routes have changed for the last time, as far as that was reported.
    var pathChange: Int64? { paths.lastChange }

    // MARK: What transfers and handles ask for

    /// The origin of a URL that is written as text, and whether it is spoken to by TLS.
    func origin(of address: String) -> (origin: String, isSecure: Bool) { hosts.origin(of: address) }

    // MARK: From the slot to the result

    func begin(_ transfer: Transfer) {
        if let (host, interface) = lookup(for: transfer) {
            return lookups.begin(for: transfer, host, over: interface) { [unowned self] addresses in
                lookedUp(addresses, for: transfer)
                // It may have been suspended meanwhile, and begins when it has a slot again.
                if transfer.isUnderWay, transfer.hasSlot { send(transfer) }
            }
        }
        send(transfer)
    }

    private func send(_ transfer: Transfer) {
        do throws(SessionError) {
            try features.check(transfer)
            if let route = transfer.route { try route.calls.check(route) }
            try transfer.prepareBody()
            let easy = try handles.acquire()
            transfer.attach(easy)
            easy.prepare(transfer, configuration)
            if transfer.isSecure || tls.resolver != nil { transfer.judgeHandshakes(tls, easy) }
            idleTimeouts.begin(transfer)
            paths.begin(transfer)
            let pool = try pools.enter(
                transfer, isExclusive: transfer.takeover != nil || hosts.needsExclusivePool(transfer))
            handles.setAddresses(easy, in: pool)
            try pool.multi.add(easy)
        } catch {
            release(transfer)
            // Later, since the caller of `start` is not ready for the end.
            turn.later { transfer.end(TransferEnd(error: error, metrics: Shared(TransferMetrics()))) }
        }
    }

    /// Begins or resumes transfers that have a slot now.
    private func proceed(_ transfers: [Transfer]) { for transfer in transfers { proceed(transfer) } }

    private func proceed(_ transfer: Transfer) {
        guard let easy = transfer.easy else { return begin(transfer) }
        idleTimeouts.begin(transfer)
        transfer.awaitAnswerAgain()
        unpause(transfer, easy)
    }

    private func pause(_ transfer: Transfer) {
        hosts.leaveQueue(transfer)
        transfer.stopAwaiting()
        if transfer.isUnsent, transfer.takeover == nil {
            // libcurl would send the request as soon as it is connected: it is begun anew instead.
            removeHandle(from: transfer)
        } else if let easy = transfer.easy {
            turn.callLibcurl { _ = ccurl_easy_pause(easy.raw, Int32(CCURL_PAUSE_ALL)) }
        }
        proceed(hosts.release(transfer))
    }

    /// Resumes a transfer in libcurl, which hands over at once what it has kept, trailers too, and reports
    /// errors in that nowhere else.
    ///
    /// A transfer that has ended is refused with the code of trailers that are no header fields
    /// (CURLE_BAD_FUNCTION_ARGUMENT, lib/easy.c and lib/headers.c), so its end is handled first.
    private func unpause(_ transfer: Transfer, _ easy: EasyHandle) {
        transfer.pool?.multi.collectAllFinished(ended)
        guard transfer.easy === easy, let pool = transfer.pool else { return }
        var code = CURLE_OK
        turn.callLibcurl { code = ccurl_easy_pause(easy.raw, Int32(CCURL_PAUSE_NONE)) }
        // So is one that has no connection yet: nothing of it is kept.
        let isRefused = code == CURLE_BAD_FUNCTION_ARGUMENT && transfer.response == nil
        guard code != CURLE_OK, !isRefused, transfer.easy === easy else { return }
        // libcurl may end the transfer in this turn, without this error.
        let error = transfer.error(code, easy, tls)
        if let error { _ = transfer.abort(error) }
        pool.multi.expectFinished()
        turn.later { [self] in
            if transfer.easy === easy { end(transfer, easy, error) }
        }
    }

    /// Ends a transfer that libcurl has carried out.
    private func ended(_ easy: EasyHandle, _ code: CURLcode) {
        guard let transfer = easy.transfer else { return }
        if transfer.beginsWithoutExpectation() {
            removeHandle(from: transfer)
            return send(transfer)
        }
        let error = transfer.error(code, easy, tls)
        guard let takeover = transfer.takeover, error == nil else { return end(transfer, easy, error) }
        takeover.connected(TakenConnection(easy, sockets, on: reactor))
    }

    private func end(_ transfer: Transfer, _ easy: EasyHandle, _ error: SessionError?) {
        let metrics = Shared(TransferMetrics(easy, version: transfer.heads.version))
        release(transfer)
        transfer.end(TransferEnd(error: error, metrics: metrics))
    }

    /// Removes the handle from a transfer.
    private func removeHandle(from transfer: Transfer) {
        guard let easy = transfer.easy else { return }
        transfer.takeover?.connectionEnds()
        pools.remove(transfer, easy)
        tls.end(easy.raw)
        transfer.detach()
        handles.release(easy)
    }

    /// Takes the handle away from a transfer and lets the next one of its origin begin.
    private func release(_ transfer: Transfer) {
        removeHandle(from: transfer)
        hosts.leaveQueue(transfer)
        proceed(hosts.release(transfer))
    }
}
