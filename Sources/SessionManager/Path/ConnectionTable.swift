// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Reachability
import ReachabilityCore

/// The connections of an engine to other machines, by descriptor: where each leads, and over which interface.
struct ConnectionTable {
    struct Connection {
        let peer: PeerAddress
        /// The kernel's own number of the socket.
        fileprivate let cookie: UInt64
        let interface: Int32
        let name: String
        var isBound: Bool
        var isStandIn: Bool
        /// Whether it may go over another uplink where its line is dead: it leads beyond the link, and not
        /// into a tunnel.
        let mayLeave: Bool
        /// When its SYN left.
        let opened = Reactor.now

        /// The server behind the interface.
        var server: LineRace.Server { LineRace.Server(peer: peer, interface: interface, name: name) }

        fileprivate func path(_ descriptor: Int32) -> ConnectionPath {
            ConnectionPath(
                local: PeerAddress.near(descriptor)?.address, peer: peer.address, port: peer.port,
                interface: interface, name: name, isBound: isBound, isStandIn: isStandIn)
        }
    }

    private var connections: [Int32: Connection] = [:]

    var isEmpty: Bool { connections.isEmpty }

    subscript(descriptor: Int32) -> Connection? {
        get { connections[descriptor] }
        set { connections[descriptor] = newValue }
    }

    mutating func add(
        _ descriptor: Int32, to peer: PeerAddress, over link: LinkState, isBound: Bool,
        isStandIn: Bool = false, mayLeave: Bool = true
    ) {
        connections[descriptor] = Connection(
            peer: peer, cookie: MonitoredSocket(descriptor: descriptor).cookie, interface: link.index,
            name: link.name, isBound: isBound, isStandIn: isStandIn, mayLeave: mayLeave)
    }

    /// Drops the connections that libcurl has closed without its callback: those that were never established.
    mutating func dropClosed() {
        for (descriptor, connection) in connections
        where MonitoredSocket(descriptor: descriptor).cookie != connection.cookie {
            connections[descriptor] = nil
        }
    }

    /// Forgets a dead connection, whose socket sends nothing more.
    mutating func silence(_ descriptor: Int32) {
        connections[descriptor] = nil
        MonitoredSocket(descriptor: descriptor).silence()
    }

    /// The connections by their paths.
    var users: [ConnectionPath: [Int32]] {
        var users: [ConnectionPath: [Int32]] = [:]
        for (descriptor, connection) in connections {
            users[connection.path(descriptor), default: []].append(descriptor)
        }
        return users
    }

    /// The connections by their ports.
    var descriptors: [ConnectionPair: Int32] {
        var found: [ConnectionPair: Int32] = [:]
        for descriptor in connections.keys {
            if let pair = ConnectionPair(descriptor) { found[pair] = descriptor }
        }
        return found
    }

    func descriptors(to server: LineRace.Server) -> [Int32] {
        connections.compactMap {
            $1.peer == server.peer && $1.interface == server.interface ? $0 : nil
        }
    }

    /// The connections over the line of an interface that may go over another uplink.
    func mayLeave(_ line: String) -> Set<Int32> {
        Set(connections.lazy.filter { $1.name == line && $1.mayLeave }.map(\.key))
    }

    /// The longest round-trip time of the connections over an interface, with its variation; nil for none.
    func roundTrip(over interface: Int32) -> Int64? {
        connections.lazy.filter { $1.interface == interface }.compactMap { descriptor, _ in
            guard let health = TCPConnection(descriptor: descriptor).health(keepaliveIdle: nil),
                health.isConnected
            else { return nil }
            return health.roundTrip &+ 4 &* health.roundTripVariation
        }.max()
    }
}
