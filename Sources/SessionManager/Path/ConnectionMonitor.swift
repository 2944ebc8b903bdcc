// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import Reachability
import ReachabilityCore
import SessionCore

/// Records over which interfaces an engine's connections go, and reports the connections whose path has died.
///
/// It listens while there are connections to other machines, and a while longer: a program may make one after
/// the other.
final class ConnectionMonitor {
    /// Connections that have lost their path, and why.
    struct Losses {
        /// Connections that are dead, with a sentence each.
        var dead: [Int32: String] = [:]
        /// Connections that work, while the kernel has turned to another interface.
        var left: Set<Int32> = []
        /// The way that works, where the line behind a link is dead.
        var detour: Detour?
        /// Whether no way works.
        var needsInternet = false
    }

    /// What is known of the lines behind interfaces.
    var lines = LineKnowledge()

    /// How long the netlink sockets stay open after the last connection: 2 s.
    private static let lingerTime: Int64 = 2_000_000_000

    private unowned let delegate: any ConnectionMonitorDelegate
    private let reactor: Reactor
    private let turn: EngineTurn
    private let observer: PathObserver
    private var connections = ConnectionTable()
    private var lingering: TimerID?
    private var isLookPending = false

    init(_ delegate: any ConnectionMonitorDelegate, reactor: Reactor, turn: EngineTurn) {
        self.delegate = delegate
        self.reactor = reactor
        self.turn = turn
        // The observer is made before `self` can be captured.
        let target = WeakTarget()
        observer = PathObserver(reactor: reactor, environment: .connections) { events in
            target.monitor?.handle(events)
        }
        target.monitor = self
    }

    private final class WeakTarget {
        weak var monitor: ConnectionMonitor?
    }

    /// Records a connection that is about to be made.
    ///
    /// - Parameters:
    ///   - name: The interface that it is bound to.
    ///   - isWanted: Whether the request or the configuration names the interface.
    ///   - isPlain: Whether it goes without TLS, so that a portal could answer it.
    func opened(
        _ descriptor: Int32, to peer: PeerAddress, through name: String?, isWanted: Bool, isPlain: Bool
    ) {
        if let lingering { _ = reactor.cancel(lingering) }
        lingering = nil
        guard observer.open() else { return }
        if let name {
            guard let link = observer.link(named: name) else { return closeSoon() }
            observer.follow(peer.address)
            if let source = observer.source(through: link, to: peer.address, port: peer.port),
                MonitoredSocket.mayBind(to: name, as: source.family)
            {
                MonitoredSocket(descriptor: descriptor).bind(from: source)
            }
            return connections.add(descriptor, to: peer, over: link, isBound: true, mayLeave: !isWanted)
        }
        guard let egress = observer.egress(to: peer.address, port: peer.port) else { return closeSoon() }
        observer.follow(peer.address)
        if let (other, source, isStandIn) = replacement(for: egress, to: peer),
            !isPlain || lines.mayTake(other.name, isPlain: true),
            InterfaceBinding.bind(descriptor, to: other.name)
        {
            if let source { MonitoredSocket(descriptor: descriptor).bind(from: source) }
            connections.add(descriptor, to: peer, over: other, isBound: true, isStandIn: isStandIn)
        } else {
            connections.add(
                descriptor, to: peer, over: egress.link, isBound: false,
                mayLeave: egress.isBeyondLink && !egress.isTunnel)
        }
    }

    /// The interface that carries a connection in the place of the kernel's choice, and the address to send
    /// from where a rule or a route looks at that; nil where the kernel's choice holds.
    private func replacement(
        for egress: Egress, to peer: PeerAddress
    ) -> (link: LinkState, source: IPAddress?, isStandIn: Bool)? {
        guard delegate.rescues else { return nil }
        if let detour = lines.detour, detour.line == egress.link.name, egress.isBeyondLink, !egress.isTunnel,
            let other = observer.link(named: detour.uplink), other.hasUsableState
        {
            return (other, observer.source(through: other, to: peer.address, port: peer.port), false)
        }
        return standIn(for: egress.link, to: peer).map { ($0.0, $0.1, true) }
    }

    /// The interface that has a path of its own while the one that the kernel chooses is dead, and the
    /// address to send from where a rule or a route looks at that.
    ///
    /// This happens where a cable is out while the wired default route is still there and preferred.
    private func standIn(for link: LinkState, to peer: PeerAddress) -> (LinkState, IPAddress?)? {
        guard link.stateUsability != .usable,
            let path = observer.path(to: [peer.address], port: peer.port), let name = path.alternative,
            let other = observer.link(named: name)
        else { return nil }
        return (other, path.alternativeSource)
    }

    // MARK: What the line monitor asks

    /// The connections to other machines by their ports.
    var descriptors: [ConnectionPair: Int32] { connections.descriptors }

    /// The connection of a transfer; nil while there is none to another machine, or where it was kept from an
    /// earlier transfer.
    func descriptor(of transfer: Transfer) -> Int32? {
        if let socket = transfer.easy?.activeSocket, connections[socket] != nil { return socket }
        return connections[transfer.socket] == nil ? nil : transfer.socket
    }

    func server(behind descriptor: Int32) -> LineRace.Server? {
        connections[descriptor]?.server
    }

    /// When the SYN of a connection left.
    func opened(_ descriptor: Int32) -> Int64? { connections[descriptor]?.opened }

    /// Whether the transfers of a connection may go over another uplink.
    func mayLeave(_ descriptor: Int32) -> Bool {
        delegate.rescues && connections[descriptor]?.mayLeave == true
    }

    /// The other interfaces with a path of their own to a server.
    func uplinks(besides server: LineRace.Server) -> [Uplink] {
        observer.uplinks(to: server.peer.address, port: server.peer.port, besides: server.interface)
    }

    /// The connections over the line of an interface that may go over another uplink.
    func connections(over line: String) -> Set<Int32> {
        delegate.rescues ? connections.mayLeave(line) : []
    }

    /// Whether another interface than its own would carry a connection if it was made now.
    func hasTurned(_ descriptor: Int32) -> Bool {
        guard let connection = connections[descriptor],
            let egress = observer.egress(to: connection.peer.address, port: connection.peer.port)
        else { return false }
        let now = replacement(for: egress, to: connection.peer)?.link ?? egress.link
        return now.index != connection.interface
    }

    /// Forgets a connection that its transfers leave although it works.
    func forget(_ descriptor: Int32) { connections[descriptor] = nil }

    /// Whether connections may leave their lines at all.
    var rescues: Bool { delegate.rescues }

    /// The line that carries what goes to a server beyond the link; nil where it goes into a tunnel.
    func line(to peer: IPAddress, port: UInt16) -> LineRace.Server? {
        guard observer.open() else { return nil }
        defer { closeSoon() }
        guard let egress = observer.egress(to: peer, port: port), egress.isBeyondLink, !egress.isTunnel else {
            return nil
        }
        return LineRace.Server(
            peer: PeerAddress(address: peer, port: port), interface: egress.link.index,
            name: egress.link.name)
    }

    /// The line that carries what goes to the internet: to addresses for documentation (RFC 5737, RFC 3849).
    func lineToInternet() -> LineRace.Server? {
        ["198.51.100.1", "2001:db8::1"].lazy.compactMap { IPAddress($0) }
            .compactMap { self.line(to: $0, port: 0) }.first
    }

    /// How long an answer over an interface may take: three round trips of its connections, or 1 s.
    func patience(over interface: Int32) -> Int64 {
        roundTrip(over: interface).map { 3 &* $0 } ?? 1_000_000_000
    }

    /// The longest round-trip time of the connections over an interface, with its variation; nil for none.
    func roundTrip(over interface: Int32) -> Int64? {
        connections.roundTrip(over: interface)
    }

    /// Ends all connections to a server over an interface.
    func giveUp(_ server: LineRace.Server, _ sentence: String) -> Losses {
        connections.dropClosed()
        var losses = Losses()
        for descriptor in connections.descriptors(to: server) {
            losses.dead[descriptor] = sentence
            connections.silence(descriptor)
        }
        return losses
    }

    /// Forgets a connection that was closed.
    func closed(_ descriptor: Int32) {
        guard connections[descriptor] != nil else { return }
        connections[descriptor] = nil
        closeSoon()
    }

    func close() {
        if let lingering { _ = reactor.cancel(lingering) }
        lingering = nil
        connections = ConnectionTable()
        observer.close()
    }

    private func closeSoon() {
        guard connections.isEmpty, lingering == nil else { return }
        lingering = reactor.schedule(at: Reactor.now &+ Self.lingerTime) { [unowned self] in
            lingering = nil
            observer.close()
        }
    }

    private func handle(_ events: [NetworkEvent]) {
        connections.dropClosed()
        if events.contains(where: \.mayChangePaths) { delegate.recordChange() }
        let users = connections.users
        let paths = Array(users.keys)
        let concerning = events.filter { $0.mayConcern(paths) }
        if concerning.isEmpty { return closeSoon() }
        observer.confirm(concerning)
        lookSoon()
    }

    /// In this turn of the loop, but after all observers of the same events: the queue must know of the loss
    /// first.
    private func lookSoon() {
        guard !isLookPending else { return }
        isLookPending = true
        turn.later { [weak self] in
            self?.isLookPending = false
            self?.look()
        }
    }

    private func look() {
        connections.dropClosed()
        let users = connections.users
        let paths = Array(users.keys)
        var losses = Losses()
        for (path, verdict) in zip(paths, observer.verdicts(paths)) {
            let descriptors = users[path] ?? []
            switch verdict {
            case .fine: break
            case .dead(let sentence):
                for descriptor in descriptors {
                    losses.dead[descriptor] = sentence
                    connections.silence(descriptor)
                }
            case .moved:
                for descriptor in descriptors { handleTurn(descriptor, path, &losses) }
            }
        }
        if !losses.dead.isEmpty || !losses.left.isEmpty { delegate.lost(losses) }
        closeSoon()
    }

    /// Handles a connection whose packets the kernel would send through another interface from now on.
    private func handleTurn(_ descriptor: Int32, _ path: ConnectionPath, _ losses: inout Losses) {
        let sentence = "the network has turned from \(path.name) to another interface"
        if PeerAddress.far(descriptor) == nil || delegate.mayMove(descriptor) {
            losses.dead[descriptor] = sentence
            connections[descriptor] = nil
            return
        }
        losses.left.insert(descriptor)
        // Where that is refused, before Linux 5.7, the connection follows the kernel.
        if !path.isBound { _ = InterfaceBinding.bind(descriptor, to: path.name) }
        connections[descriptor]?.isBound = true
        connections[descriptor]?.isStandIn = false
    }
}
