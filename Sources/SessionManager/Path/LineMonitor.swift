// SPDX-License-Identifier: Apache-2.0

import CCurl
import EventLoop
import ReachabilityCore
import SessionCore

/// Looks at the connections of transfers that move no byte, and finds those whose line is dead; on the loop's
/// thread.
///
/// Sends nothing while transfers move. A silent connection sends keepalive probes: after 1 s, then after
/// twice as long each time one is answered, at most 30 s. One that is owed an acknowledgement goes into a
/// ``LineRace``. Nothing is looked at where no other uplink reaches the server.
final class LineMonitor {
    /// The transfers of one connection.
    private struct Users {
        var transfers: [Transfer]
        var silence: Int64
    }

    private static let shortestLook: Int64 = 250_000_000
    /// How long after a question the probe is asked again: 15 s.
    private static let probePause: Int64 = 15_000_000_000
    /// How long it is believed that no other uplink reaches a server, unless the network changes: 5 s.
    private static let alonePeriod: Int64 = 5_000_000_000

    private unowned let monitor: ConnectionMonitor
    private let reactor: Reactor
    private let turn: EngineTurn
    private let pools: ConnectionPools
    private let onLoss: (ConnectionMonitor.Losses) -> Void
    private var silentConnections: [Int32: SilentConnection] = [:]
    private var races: [LineRace.Server: LineRace] = [:]
    /// The servers that no other uplink reaches, and until when that is believed.
    private var alone: [LineRace.Server: Int64] = [:]
    private let largePackets: LargePackets
    private var timer: TimerID?
    private var lastQuestion = Int64.min
    /// What is known of the lines from elsewhere.
    var knowledge = LineKnowledge() {
        didSet {
            let (new, former) = (knowledge.findings, oldValue.findings)
            guard
                knowledge.detour != oldValue.detour || (new ?? .init()).differs(from: former ?? .init())
            else { return }
            for socket in silentConnections.keys { silentConnections[socket]?.restart() }
            lookSoon()
        }
    }

    init(
        _ monitor: ConnectionMonitor, reactor: Reactor, turn: EngineTurn, pools: ConnectionPools,
        onLoss: @escaping (ConnectionMonitor.Losses) -> Void
    ) {
        self.monitor = monitor
        self.reactor = reactor
        self.turn = turn
        self.pools = pools
        self.onLoss = onLoss
        largePackets = LargePackets(on: reactor)
    }

    /// A transfer begins.
    func begin() { if timer == nil { arm(at: Reactor.now &+ Self.shortestLook) } }

    /// Links, addresses or routes have changed.
    func pathsChanged() { alone = [:] }

    func close() {
        if let timer = timer.take() { _ = reactor.cancel(timer) }
        for race in races.values { race.close() }
        races = [:]
        silentConnections = [:]
        largePackets.close()
    }

    /// Looks at the connections soon, because a finding may decide about silent ones.
    private func lookSoon() {
        if let timer = timer.take() { _ = reactor.cancel(timer) }
        arm(at: Reactor.now)
    }

    private func arm(at deadline: Int64) {
        timer = reactor.schedule(at: deadline) { [unowned self] in
            timer = nil
            look()
        }
    }

    // MARK: A look

    private func look() {
        let now = Reactor.now
        var next = Int64.max
        var silent: [Int32: Users] = [:]
        var isNeeded = false
        var kept: [ConnectionPair: Int32]?
        pools.forEachTransfer { transfer in
            guard transfer.route == nil else { return }
            let pair = transfer.easy.flatMap { ConnectionPair($0) }
            var socket = monitor.descriptor(of: transfer)
            if socket == nil, let pair {
                // libcurl does not tell the socket of a connection that was kept from an earlier transfer.
                let known = kept ?? monitor.descriptors
                (socket, kept) = (known[pair], known)
                // A connection to this machine, which has no line.
                if socket == nil { return }
            }
            guard let activity = activity(of: transfer, socket, now) else { return }
            isNeeded = true
            let silence = now &- activity
            let limit =
                pair == nil ? AcknowledgementRules.connectPatience : AcknowledgementRules.silence
            guard let socket, silence >= limit else {
                next = min(next, activity &+ limit)
                return
            }
            var users = silent[socket] ?? Users(transfers: [], silence: silence)
            users.transfers.append(transfer)
            users.silence = min(users.silence, silence)
            silent[socket] = users
        }
        endUnused(silent)
        for (socket, users) in silent { next = min(next, look(at: socket, users, now)) }
        guard isNeeded else { return }
        // A transfer that was begun anew has armed it as well.
        if next < .max, timer == nil { arm(at: max(next, now &+ Self.shortestLook)) }
    }

    /// When a transfer that waits for the network moved its last byte; nil for one that waits for this
    /// program.
    private func activity(of transfer: Transfer, _ socket: Int32?, _ now: Int64) -> Int64? {
        guard let easy = transfer.easy, transfer.hasSlot, !transfer.isSuspended, !transfer.isWaiting
        else { return nil }
        let moved = max(transfer.lastActivity, ccurl_head_last(easy.head))
        return min(now, max(moved, socket.flatMap(monitor.opened) ?? moved))
    }

    /// Ends the probes and races of connections that are not silent any more.
    private func endUnused(_ silent: [Int32: Users]) {
        for socket in silentConnections.keys where silent[socket] == nil {
            if silentConnections.removeValue(forKey: socket)?.keepalive != nil,
                monitor.server(behind: socket) != nil
            {
                TCPConnection(descriptor: socket).endProbing()
            }
        }
        let servers = Set(silent.keys.compactMap { monitor.server(behind: $0) })
        for (server, race) in races where !servers.contains(server) {
            race.heard()
            races[server] = nil
        }
    }

    /// Looks at a silent connection; returns when it is to be looked at again.
    private func look(at socket: Int32, _ users: Users, _ now: Int64) -> Int64 {
        guard let server = monitor.server(behind: socket), monitor.mayLeave(socket) else { return .max }
        var known = silentConnections[socket] ?? SilentConnection()
        defer { silentConnections[socket] = known }
        let connection = TCPConnection(descriptor: socket)
        guard var health = connection.health(keepaliveIdle: known.keepalive) else { return .max }
        known.complete(&health, at: now)
        let standing = knowledge.standing(of: server.name)
        switch AcknowledgementRules.verdict(health, silence: users.silence, patience: standing.patience) {
        case .silent:
            races[server]?.heard()
            for transfer in users.transfers { transfer.lineFault = nil }
            if standing == .unknown, !hasOtherUplinks(server, now) { return alone[server] ?? .max }
            return known.probe(connection, health, now)
        case .waiting: return now &+ Self.shortestLook
        case .deaf:
            askProbe(about: server.name, now)
            let losesLarge = AcknowledgementRules.losesLargePackets(health)
            if losesLarge { largePackets.suspect(server, users.transfers, at: now) }
            switch standing {
            case .left: lose(monitor.giveUp(server, "no internet was found behind \(server.name)"))
            case .dead: race(server, over: [], users, health)
            case .unknown, .replaceable:
                guard hasOtherUplinks(server, now) else { return alone[server] ?? .max }
                suspect(server, users, health, losesLarge && largePackets.mayMove(server, at: now))
            }
            return now &+ Self.shortestLook
        }
    }

    /// The probe looks for itself where a connection may be dead.
    private func askProbe(about line: String, _ now: Int64) {
        guard let probe = knowledge.probe, lastQuestion == .min || now &- lastQuestion >= Self.probePause,
            knowledge.findings?.uplink(line)?.state.isDead != true
        else { return }
        lastQuestion = now
        probe.check()
    }

    private func hasOtherUplinks(_ server: LineRace.Server, _ now: Int64) -> Bool {
        if let end = alone[server], now < end { return false }
        if races[server] != nil { return true }
        let isAlone = monitor.uplinks(besides: server).isEmpty
        alone[server] = isAlone ? now &+ Self.alonePeriod : nil
        return !isAlone
    }

    // MARK: A race

    private func suspect(
        _ server: LineRace.Server, _ users: Users, _ health: ConnectionHealth, _ losesLarge: Bool
    ) {
        let uplinks = monitor.uplinks(besides: server).compactMap { uplink in
            let detour = Detour(server, uplink)
            return users.transfers.lazy.compactMap { $0.delegate?.transferMayUse($0, detour) }.first
                .map { uplink.priced($0) }
        }
        if !uplinks.isEmpty { race(server, over: uplinks, users, health, losesLarge: losesLarge) }
    }

    private func race(
        _ server: LineRace.Server, over uplinks: [Uplink], _ users: Users, _ health: ConnectionHealth,
        losesLarge: Bool = false
    ) {
        guard let control = turn.control, let transfer = users.transfers.first else { return }
        let race =
            races[server]
            ?? LineRace(server, on: reactor, control: control) { [unowned self] in ended(server, $0) }
        races[server] = race
        race.suspected(
            UplinkTrial.request(like: transfer.request), over: uplinks,
            wait: wait(for: health, server, users), losesLarge: losesLarge)
    }

    /// How long an answer over the own line may take.
    ///
    /// A SYN has no round-trip time yet: that of other connections over the line counts, and without one the
    /// patience for connections that are made.
    private func wait(
        for health: ConnectionHealth, _ server: LineRace.Server, _ users: Users
    ) -> Int64 {
        if health.isConnected { return 2 &* (health.roundTrip &+ 4 &* health.roundTripVariation) }
        guard let roundTrip = monitor.roundTrip(over: server.interface) else {
            return max(0, AcknowledgementRules.patience &- users.silence)
        }
        return 3 &* roundTrip
    }

    private func ended(_ server: LineRace.Server, _ result: LineRace.Result) {
        races[server] = nil
        var losses: ConnectionMonitor.Losses
        switch result {
        case .move(let uplink, let losesLarge):
            var detour = Detour(server, uplink)
            if losesLarge {
                largePackets.moved(server, at: Reactor.now)
                detour.losesLarge = true
                detour.sentence =
                    "\(LargePackets.sentence(server)); \(server.peer.address) answers through \(uplink.name)"
            }
            losses = monitor.giveUp(server, detour.sentence)
            losses.detour = detour
        case .reconnect:
            losses = monitor.giveUp(
                server, "\(server.name) works again, but the connection to \(server.peer.address) does not")
        case .lose:
            losses = monitor.giveUp(server, knowledge.findings?.sentence ?? "")
            losses.needsInternet = true
        }
        lose(losses)
    }

    private func lose(_ losses: ConnectionMonitor.Losses) {
        for socket in losses.dead.keys { silentConnections[socket] = nil }
        onLoss(losses)
    }
}

extension LineStanding {
    /// How long a peer may owe an acknowledgement.
    fileprivate var patience: Int64 {
        switch self {
        case .unknown, .dead: AcknowledgementRules.patience
        case .replaceable: AcknowledgementRules.shortPatience
        case .left: AcknowledgementRules.leastPatience
        }
    }
}
