// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc
import ReachabilityCore
package import ServiceCore

/// The service's listening socket and its connections.
package final class VarlinkServer: ServiceComponent {
    package let name = "varlink"
    package let startsFirst = true
    private let makeListener: () throws(ServiceError) -> UnixListener
    private let listening: () -> Void
    private let limits: VarlinkLimits
    /// Whether a peer may use the outbox.
    private let mayUseOutbox: (PeerCredentials) -> Bool
    /// Whether a peer may make the service read secrets, and has reserved connections.
    private let isOwner: (PeerCredentials) -> Bool
    private let statusService: StatusService
    private var listener: UnixListener?
    private var context: ServiceContext?
    /// Watches the socket's file.
    private var watcher: PathWatcher?
    /// Set until the file is made again.
    private var restoring: TimerID?
    private var quota: ConnectionQuota
    private var connections: [ConnectionQuota.ID: VarlinkConnection] = [:]
    private var subscribers: [ConnectionQuota.ID: VarlinkConnection] = [:]
    private var waiting: Set<ConnectionQuota.ID> = []
    /// The subscribers, and the connections that wait for a condition or the outbox.
    private var subscriptions: SubscriptionQuota
    /// Whether clients are accepted.
    private var isListening = false
    private var acceptTimer: TimerID?
    private var drainTimer: TimerID?
    /// Called when the last client has disconnected, while the service ends.
    private var stopped: (() -> Void)?
    private var refusals: UInt64 = 0

    /// - Parameters:
    ///   - listener: makes the socket when the service starts.
    ///   - listening: called each time the socket was made, also where its directory was removed meanwhile;
    ///     only then the path is known to be no other service's.
    package init(
        limits: VarlinkLimits, statusService: StatusService,
        mayUseOutbox: @escaping (PeerCredentials) -> Bool,
        isOwner: @escaping (PeerCredentials) -> Bool,
        listener: @escaping () throws(ServiceError) -> UnixListener,
        listening: @escaping () -> Void = {}
    ) {
        self.limits = limits
        self.statusService = statusService
        self.mayUseOutbox = mayUseOutbox
        self.isOwner = isOwner
        makeListener = listener
        self.listening = listening
        quota = ConnectionQuota(limits: limits)
        subscriptions = SubscriptionQuota(limits: limits)
    }

    package func start(_ context: ServiceContext) throws(ServiceError) {
        self.context = context
        let listener = try makeListener()
        self.listener = listener
        listening()
        statusService.open(context)
        watchSocketFile()
    }

    /// Switches to another socket; clients in the queue of the former one are admitted first.
    private func replaceListener(by remade: UnixListener) {
        guard let context, let old = listener else { return }
        if isListening {
            accept()
            context.reactor.unwatch(old.descriptor.number)
        }
        if let acceptTimer { context.reactor.cancel(acceptTimer) }
        acceptTimer = nil
        listener = remade
        if isListening { beginToListen() }
    }

    /// Clients are admitted once the status is known; until then they wait in the kernel's queue.
    private func beginToListen() {
        guard let context, let listener, acceptTimer == nil else { return }
        isListening = true
        do throws(ReactorError) {
            try context.reactor.watch(listener.descriptor.number, for: .readable, retrying: true) {
                [weak self] _ in self?.accept()
            }
        } catch {
            context.log(.error, "the socket cannot be watched: \(error)")
        }
    }

    package func statusChanged(_ change: CommittedChange) {
        if change.event == .initial { beginToListen() }
        checkSocketFile()
        notifySubscribers(change)
        statusService.statusChanged()
    }

    package func internetChanged(_ change: CommittedChange) {
        notifySubscribers(change)
        statusService.internetChanged()
    }

    private func notifySubscribers(_ change: CommittedChange) {
        var replies = ChangeReplies(change)
        for connection in subscribers.values { connection.statusChanged(&replies) }
    }

    package var stateLine: String? {
        "\(connections.count) clients, \(subscribers.count) subscriptions, \(statusService.waitCount) waiting, \(refusals) refused"
    }

    package func stop(_ done: @escaping () -> Void) {
        endWatching()
        if let listener { context?.reactor.unwatch(listener.descriptor.number) }
        if let acceptTimer { context?.reactor.cancel(acceptTimer) }
        listener?.close()
        listener = nil
        stopped = done
        drainTimer = context?.reactor.schedule(at: Reactor.now + limits.partingTime.inNanoseconds) {
            [weak self] in
            self?.drained()
        }
        statusService.prepareToClose()
        for connection in Array(connections.values) {
            if waiting.contains(connection.id) { connection.close() } else { connection.drain() }
        }
        if connections.isEmpty { drained() }
    }

    private func drained() {
        guard let done = stopped else { return }
        stopped = nil
        if let drainTimer { context?.reactor.cancel(drainTimer) }
        statusService.close()
        for connection in Array(connections.values) { connection.close() }
        context = nil
        done()
    }

    // MARK: Connections

    private func accept() {
        guard let context, let listener else { return }
        // A few at a time: a storm of connections must not block the loop.
        for _ in 0..<64 {
            let number = clinux_accept(listener.descriptor.number)
            guard number >= 0 else {
                if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { pauseAccepting() }
                return
            }
            let descriptor = OwnedDescriptor(adopting: number)
            guard let peer = PeerCredentials(socket: number) else { continue }
            switch quota.admit(user: peer.user, isOwner: isOwner(peer), isMember: mayUseOutbox(peer)) {
            case .admitted(let id): open(id, descriptor, peer, context)
            case .replacing(let victim, by: let id):
                refusals += 1
                connections[victim]?.close()
                open(id, descriptor, peer, context)
            case .refused:
                refusals += 1
                let reply = VarlinkReply.limit("too many clients are at work").message
                _ = send(number, reply, reply.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
        }
    }

    /// Pauses when no descriptor is left: clients wait in the kernel's queue, and would wake each turn.
    private func pauseAccepting() {
        guard let context, let listener, acceptTimer == nil else { return }
        context.log(.warning, "no client can be let in: \(String(cString: strerror(errno)))")
        context.reactor.change(listener.descriptor.number, to: .nothing)
        acceptTimer = context.reactor.schedule(at: Reactor.now + 1_000_000_000) { [weak self] in
            guard let self, let listener = self.listener else { return }
            acceptTimer = nil
            self.context?.reactor.change(listener.descriptor.number, to: .readable)
        }
    }

    private func open(
        _ id: ConnectionQuota.ID, _ descriptor: consuming OwnedDescriptor, _ peer: PeerCredentials,
        _ context: ServiceContext
    ) {
        let limits = mayUseOutbox(peer) ? limits : limits.forPublicUsers
        let connection = VarlinkConnection(id, descriptor, peer, context.reactor, limits, server: self)
        connections[id] = connection
        if !connection.open() { connection.close() }
    }

    func update(_ connection: VarlinkConnection, isIdle: Bool) { quota.update(connection.id, isIdle: isIdle) }

    func closed(_ connection: VarlinkConnection) {
        quota.remove(connection.id)
        connections[connection.id] = nil
        subscribers[connection.id] = nil
        waiting.remove(connection.id)
        subscriptions.remove(connection.id)
        statusService.forget(connection.id)
        if stopped != nil, connections.isEmpty { drained() }
    }

    // MARK: Calls

    /// Carries out a client's request, now or later.
    func begin(_ request: ServiceRequest, for connection: VarlinkConnection) {
        switch request {
        case .monitor where stopped != nil, .wait where stopped != nil:
            connection.answer(.unavailable("the service is ending"))
        case .monitor(let statusOnly):
            guard let change = statusService.current else {
                return connection.answer(.unavailable("no status is known yet"))
            }
            guard admit(connection) else { return }
            connection.subscribe(statusOnly: statusOnly, to: change)
            // A caller that wants no reply gets no subscription either.
            if connection.isMonitoring {
                subscribers[connection.id] = connection
            } else {
                subscriptions.remove(connection.id)
            }
        case .wait(let condition, let limits):
            guard admit(connection) else { return }
            waiting.insert(connection.id)
            statusService.wait(condition, limits, for: connection.id) {
                [weak self, weak connection] in
                guard let connection else { return }
                self?.waiting.remove(connection.id)
                self?.subscriptions.remove(connection.id)
                connection.answer($0)
            }
        case .outbox(let call)
        where !mayUseOutbox(connection.peer) || call.readsSecrets && !isOwner(connection.peer):
            connection.answer(.permissionDenied)
        case .hint where !mayUseOutbox(connection.peer): connection.answer(.permissionDenied)
        case .outbox(.wait(let entry, let timeout)):
            guard admit(connection) else { return }
            statusService.waitForOutbox(entry, timeout: timeout, for: connection.id) {
                [weak self, weak connection] in
                guard let connection else { return }
                self?.subscriptions.remove(connection.id)
                connection.answer($0)
            }
        case .outbox(.monitor(let entry, let lane, let tag)):
            guard admit(connection) else { return }
            statusService.followOutbox(entry, lane: lane, tag: tag, for: connection.id) {
                [weak self, weak connection] reply in
                let unread = connection?.answerMore(reply)
                if unread == nil, let connection {
                    self?.subscriptions.remove(connection.id)
                    // A caller that wants no reply follows nothing.
                    if reply.continues { connection.answerNext() }
                }
                return unread
            }
        case .outbox(let call):
            let own = call.by(user: connection.peer.user, group: connection.peer.group)
            statusService.answer(.outbox(own)) { [weak connection] in connection?.answer($0) }
        case .history where !isOwner(connection.peer) && publicUnread > limits.publicUnread:
            connection.answer(.limit("others have not read their answers yet"))
        default: statusService.answer(request) { [weak connection] in connection?.answer($0) }
        }
    }

    /// The unread bytes of all clients but the owners.
    private var publicUnread: Int { connections.values.reduce(0) { isOwner($1.peer) ? $0 : $0 + $1.unread } }

    /// Permits a connection to watch or wait, or refuses it with an answer.
    private func admit(_ connection: VarlinkConnection) -> Bool {
        let refusal = subscriptions.admit(
            connection.id, user: connection.peer.user, isOwner: isOwner(connection.peer))
        if let refusal { connection.answer(.limit(refusal)) }
        return refusal == nil
    }
}

// The socket's file may be removed while the service runs, mostly with its directory; then it is made again.
extension VarlinkServer {
    /// How long the service waits for a removed directory before it makes the directory itself.
    private static let firstPause: Int64 = 1_000_000_000
    private static let longestPause: Int64 = 60_000_000_000

    /// Starts to watch the socket's file.
    private func watchSocketFile() {
        endWatching()
        guard let context, let path = listener?.path else { return }
        // Without a watch the file is checked with each change of the status.
        watcher = PathWatcher(folder: path.enclosingFolder, file: path, on: context.reactor) { [weak self] in
            self?.checkSocketFile()
        }
    }

    /// Checks that the file exists; else makes it again after a pause.
    private func checkSocketFile() {
        guard let context, let listener, let path = listener.path, restoring == nil, !listener.ownsPath
        else { return }
        context.log(.warning, "varlink: the socket \(path) is gone; it is made again")
        endWatching()
        restore(after: Self.firstPause, isFirst: true)
    }

    private func endWatching() {
        watcher?.end()
        watcher = nil
        if let restoring { context?.reactor.cancel(restoring) }
        restoring = nil
    }

    private func restore(after pause: Int64, isFirst: Bool) {
        restoring = context?.reactor.schedule(at: Reactor.now + pause) { [weak self] in
            guard let self, let context, let listener else { return }
            restoring = nil
            do throws(ServiceError) {
                let remade = try listener.remade()
                replaceListener(by: remade)
                listening()
                watchSocketFile()
                context.log(.notice, "varlink: the socket \(remade.path ?? "") is there again")
            } catch {
                if isFirst { context.log(.error, "varlink: \(error)") }
                restore(after: min(pause * 2, Self.longestPause), isFirst: false)
            }
        }
    }
}
