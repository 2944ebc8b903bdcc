// SPDX-License-Identifier: Apache-2.0

import CCurl
import EventLoop
import SessionCore

/// Gives up the transfers whose connection's path has died; on the loop's thread.
final class TransferPaths {
    /// Whether connections are bound to an interface that has a path of its own while the one that the kernel
    /// chooses is dead.
    var rescues = true
    /// What is known of the lines behind interfaces.
    var lines = LineKnowledge() {
        didSet {
            monitor?.lines = lines
            lineMonitor?.knowledge = lines
            if let line = lines.detour?.line, line != oldValue.detour?.line { abandon(line) }
            if let uplink = oldValue.detour?.uplink, uplink != lines.detour?.uplink {
                abandon(uplink, movesRunning: true)
            }
        }
    }
    /// When links, addresses or routes have changed for the last time, as far as that was reported.
    private(set) var lastChange: Int64?
    private let configuration: SessionConfiguration
    private let reactor: Reactor
    private let turn: EngineTurn
    private let sockets: CurlSockets
    private let pools: ConnectionPools
    /// Made with the first connection that leaves this machine.
    private var monitor: ConnectionMonitor?
    private var lineMonitor: LineMonitor?
    private lazy var lookups = LookupRescue(on: reactor, turn: turn, pools: pools) { [unowned self] in
        makeMonitor()
    } onResult: { [unowned self] in
        lookedUp($0, $1)
    }

    init(
        _ configuration: SessionConfiguration, reactor: Reactor, turn: EngineTurn, sockets: CurlSockets,
        pools: ConnectionPools
    ) {
        self.configuration = configuration
        self.reactor = reactor
        self.turn = turn
        self.sockets = sockets
        self.pools = pools
    }

    /// Records that links, addresses or routes have changed now.
    func recordChange() {
        lastChange = Reactor.now
        lineMonitor?.pathsChanged()
    }

    /// A transfer begins.
    func begin(_ transfer: Transfer) {
        guard transfer.route == nil else { return }
        lineMonitor?.begin()
        lookups.begin(transfer)
    }

    func close() {
        lookups.close()
        lineMonitor?.close()
        monitor?.close()
    }

    private func makeMonitor() -> ConnectionMonitor {
        if let monitor { return monitor }
        let new = ConnectionMonitor(self, reactor: reactor, turn: turn)
        new.lines = lines
        let other = LineMonitor(new, reactor: reactor, turn: turn, pools: pools) { [unowned self] in lost($0)
        }
        other.knowledge = lines
        lineMonitor = other
        monitor = new
        return new
    }

    /// The host of these transfers was looked up elsewhere than by the system.
    private func lookedUp(_ transfers: [Transfer], _ result: HostLookup.Result) {
        let loss =
            switch result {
            case .use: PathLoss(sentence: "the name servers do not answer; another uplink's do")
            case .move(let detour): PathLoss(sentence: detour.sentence, detour: detour)
            }
        for transfer in transfers where transfer.easy != nil {
            transfer.delegate?.transferLostPath(transfer, loss)
        }
    }

    /// New exchanges use no connection over a line any more; running ones stay until they are found dead.
    ///
    /// - Parameter movesRunning: Whether running ones turn with the traffic where ``BetterPathPolicy/move``
    ///   has them do so, since another line is as good.
    private func abandon(_ line: String, movesRunning: Bool = false) {
        guard let monitor else { return }
        var losses = ConnectionMonitor.Losses()
        for descriptor in monitor.connections(over: line) {
            if movesRunning, monitor.hasTurned(descriptor), mayMove(descriptor) {
                losses.dead[descriptor] = "traffic has turned from \(line) to another line"
                monitor.forget(descriptor)
            } else {
                losses.left.insert(descriptor)
            }
        }
        if !losses.left.isEmpty || !losses.dead.isEmpty { lost(losses) }
    }

    /// Why a transfer has to leave its connection; nil where that is not dead.
    private func loss(
        of transfer: Transfer, _ losses: ConnectionMonitor.Losses, _ sentences: [ConnectionPair: String]
    ) -> String? {
        guard let easy = transfer.easy, transfer.route == nil else { return nil }
        if let pair = ConnectionPair(easy) { return sentences[pair] }
        if sockets.holdsConnection(of: transfer) { return losses.dead[transfer.socket] }
        // It still asks a name server, perhaps one of the lost network, or waits for a connection of the
        // retired pool.
        return losses.dead.values.first ?? "the network has changed"
    }
}

extension TransferPaths: ConnectionObserver {
    func opened(_ descriptor: Int32, to peer: PeerAddress, for transfer: Transfer) {
        makeMonitor().opened(
            descriptor, to: peer, through: transfer.interface(configuration),
            isWanted: transfer.wantedInterface(configuration) != nil, isPlain: !transfer.isSecure)
        lineMonitor?.begin()
        if !transfer.isTrial { lookups.store(peer.address, of: transfer.origin) }
    }

    func closed(_ descriptor: Int32) { monitor?.closed(descriptor) }
}

extension TransferPaths: ConnectionMonitorDelegate {
    /// Gives up dead connections; connections that were left serve their running transfers and no others.
    func lost(_ losses: ConnectionMonitor.Losses) {
        var sentences: [ConnectionPair: String] = [:]
        for (descriptor, sentence) in losses.dead {
            if let pair = ConnectionPair(descriptor) { sentences[pair] = sentence }
        }
        let lost = Set(losses.left).union(losses.dead.keys).compactMap { sockets.pool(of: $0) }
        // Pools that are bound in the same way go the same way.
        let retired = pools.retire { pool in
            lost.contains { $0 === pool || $0.key.binding == pool.key.binding && !$0.isRetired }
        }
        var victims: [(Transfer, String)] = []
        var origins: Set<String> = []
        for transfer in retired.flatMap(\.transfers) {
            guard let sentence = loss(of: transfer, losses, sentences) else { continue }
            victims.append((transfer, sentence))
            if losses.needsInternet, !transfer.isLookingUp { origins.insert(transfer.origin) }
        }
        for (transfer, sentence) in victims where transfer.easy != nil {
            // A look-up waits for the internet only where a connection of its origin is dead.
            let loss = PathLoss(
                sentence: sentence, detour: losses.detour, needsInternet: origins.contains(transfer.origin))
            transfer.delegate?.transferLostPath(transfer, loss)
        }
    }

    func mayMove(_ descriptor: Int32) -> Bool {
        guard configuration.betterPath == .move, let pair = ConnectionPair(descriptor) else { return false }
        var mayMove = true
        pools.forEachTransfer { transfer in
            guard let easy = transfer.easy, ConnectionPair(easy) == pair else { return }
            if transfer.delegate?.transferMayMove(transfer) == false { mayMove = false }
        }
        return mayMove
    }
}

/// The ports of a connection, which no other one to the same peer has.
struct ConnectionPair: Hashable {
    private let near: Int
    private let far: Int

    /// The connection behind a descriptor.
    init?(_ descriptor: Int32) {
        guard let near = PeerAddress.near(descriptor), let far = PeerAddress.far(descriptor) else {
            return nil
        }
        self.near = Int(near.port)
        self.far = Int(far.port)
    }

    /// The connection that a transfer has; nil while it has none.
    init?(_ easy: EasyHandle) {
        near = easy.long(CURLINFO_LOCAL_PORT)
        far = easy.long(CURLINFO_PRIMARY_PORT)
        guard near != 0 else { return nil }
    }
}

extension Transfer {
    /// Whether libcurl carries it out and has no connection for it yet.
    var isUnconnected: Bool {
        guard let easy, response == nil, body.sent == 0, route == nil else { return false }
        return ConnectionPair(easy) == nil
    }

    /// Whether libcurl carries it out and has not begun to connect.
    var isLookingUp: Bool { socket < 0 && isUnconnected }

    /// The interface that the request or the configuration names: a decision, which holds also where its path
    /// is dead.
    func wantedInterface(_ configuration: SessionConfiguration) -> String? {
        options.interface ?? configuration.interface
    }

    /// The interface that the pool of its connection is bound to; empty where the kernel chooses.
    var boundInterface: String {
        if case .interface(let name) = binding { name } else { "" }
    }

    /// The interface that its sockets are bound to; nil where the kernel chooses.
    func interface(_ configuration: SessionConfiguration) -> String? {
        if let wanted = wantedInterface(configuration) { return wanted }
        if case .interface(let name) = binding { return name }
        return nil
    }
}
