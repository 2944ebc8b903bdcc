// SPDX-License-Identifier: Apache-2.0

import CCurl
import EventLoop
import SessionCore

// Connections whose path has died, and the transfers that use them.
extension TransferEngine {
    /// A connection to another machine is about to be made for a transfer.
    func opened(_ descriptor: Int32, to peer: PeerAddress, for transfer: Transfer) {
        sockets[descriptor]?.opener = ObjectIdentifier(transfer)
        sockets[descriptor]?.pool = transfer.pool
        transfer.socket = descriptor
        let watch = watch ?? PathWatch(self)
        self.watch = watch
        watch.opened(descriptor, to: peer, through: transfer.interface(configuration))
    }

    /// Gives up dead connections; connections that were left serve what runs in them and nothing else.
    func lost(_ losses: PathWatch.Losses) {
        var sentences: [ConnectionPair: String] = [:]
        for (descriptor, sentence) in losses.dead {
            if let pair = ConnectionPair(descriptor) { sentences[pair] = sentence }
        }
        let lost = Set(losses.left).union(losses.dead.keys).compactMap { sockets[$0]?.pool }
        // What is bound in the same way goes the same way.
        let pools = self.pools.filter { pool in
            lost.contains { $0 === pool || $0.binding == pool.binding && !$0.isRetired }
        }
        for pool in pools { retire(pool) }
        var victims: [(Transfer, String)] = []
        for transfer in running where pools.contains(where: { $0 === transfer.pool }) {
            if let sentence = loss(of: transfer, losses, sentences) { victims.append((transfer, sentence)) }
        }
        for (transfer, sentence) in victims where transfer.easy != nil {
            transfer.observer?.transferLostPath(transfer, sentence)
        }
    }

    /// Why a transfer cannot go on where it is; nil where its connection is none of the dead.
    private func loss(
        of transfer: Transfer, _ losses: PathWatch.Losses, _ sentences: [ConnectionPair: String]
    ) -> String? {
        guard let easy = transfer.easy else { return nil }
        if let pair = ConnectionPair(easy) { return sentences[pair] }
        if let descriptor = connecting(transfer) { return losses.dead[descriptor] }
        // It still asks a name server, perhaps one of the lost network, or waits for a connection of the retired pool.
        return losses.dead.values.first ?? "the network has changed"
    }

    /// The connection that is being made for a transfer.
    private func connecting(_ transfer: Transfer) -> Int32? {
        sockets[transfer.socket]?.opener == ObjectIdentifier(transfer) ? transfer.socket : nil
    }

    /// Whether everything that runs over a connection wants to leave it for a better path, and can.
    func mayMove(_ descriptor: Int32) -> Bool {
        guard configuration.betterPath == .move, let pair = ConnectionPair(descriptor) else { return false }
        return running.allSatisfy { transfer in
            guard let easy = transfer.easy, ConnectionPair(easy) == pair else { return true }
            return transfer.observer?.transferMayMove(transfer) != false
        }
    }
}

/// What tells a connection from all others to the same peer: the ports.
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
    /// Whether libcurl carries it out and has not begun to connect.
    var isLookingUp: Bool {
        guard let easy, response == nil, body.sent == 0, socket < 0 else { return false }
        return ConnectionPair(easy) == nil
    }

    /// The interface that its sockets are bound to; nil where the kernel chooses.
    ///
    /// What the request or the configuration says is a decision, and holds also where the path is dead.
    func interface(_ configuration: SessionConfiguration) -> String? {
        if let wanted = options.interface ?? configuration.interface { return wanted }
        if case .interface(let name) = binding { return name }
        return nil
    }
}
