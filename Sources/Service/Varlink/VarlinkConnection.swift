// SPDX-License-Identifier: Apache-2.0

import CLinux
import EventLoop
import Glibc
import ReachabilityCore
import ServiceCore

/// One client's socket: bytes in, replies out, timers; ``VarlinkConnectionStateMachine`` decides.
final class VarlinkConnection {
    let id: ConnectionQuota.ID
    let peer: PeerCredentials
    private let descriptor: OwnedDescriptor
    private let reactor: Reactor
    private let limits: VarlinkLimits
    /// Nil if the service was released before this connection closed.
    private weak var server: VarlinkServer?
    private var machine: VarlinkConnectionStateMachine
    /// Replies that were not written to the socket yet.
    private var outgoing: [UInt8] = []
    private var messageTimer: TimerID?
    private var stallTimer: TimerID?
    /// The client sends no more, or its input is ignored.
    private var isEnded = false
    private(set) var isClosed = false
    private var isAnswering = false
    /// Whether a reply was sent.
    private var isAnswered = false
    private var isDraining = false
    /// As the server knows it.
    private var isIdle = true

    private static let pieceSize = 16 << 10

    init(
        _ id: ConnectionQuota.ID, _ descriptor: consuming OwnedDescriptor, _ peer: PeerCredentials,
        _ reactor: Reactor, _ limits: VarlinkLimits, server: VarlinkServer
    ) {
        self.id = id
        self.peer = peer
        self.descriptor = descriptor
        self.reactor = reactor
        self.limits = limits
        self.server = server
        machine = VarlinkConnectionStateMachine(limits: limits)
    }

    /// Starts watching the socket; false where the kernel refuses.
    func open() -> Bool {
        do throws(ReactorError) {
            try reactor.watch(descriptor.number, for: .readable) { [weak self] in self?.ready($0) }
            return true
        } catch {
            return false
        }
    }

    /// The bytes that the client has not read yet.
    var unread: Int { outgoing.count }

    /// Whether the connection is a subscription.
    var isMonitoring: Bool { machine.isMonitoring }

    // MARK: Events

    private func ready(_ readiness: Readiness) {
        if readiness.contains(.refused) { return close() }
        if readiness.contains(.readable) || readiness.contains(.hangUp) { read() }
        guard !isClosed else { return }
        // A client that has closed both directions gets no answers; its last bytes were read.
        if readiness.contains(.error) || isEnded && readiness.contains(.hangUp) { return close() }
        if !outgoing.isEmpty { flush() }
        answerCalls()
    }

    private func read() {
        guard !isEnded else { return }
        let result = withUnsafeTemporaryAllocation(byteCount: Self.pieceSize, alignment: 1) {
            piece -> (count: Int, errno: Int32) in
            let count = recv(descriptor.number, piece.baseAddress, piece.count, 0)
            guard count > 0 else { return (count, errno) }
            apply(machine.received(UnsafeRawBufferPointer(rebasing: piece[..<count])))
            return (count, 0)
        }
        if result.count == 0 {
            isEnded = true
        } else if result.count < 0, result.errno != EAGAIN, result.errno != EINTR {
            close()
        }
    }

    /// Answers all calls that can be answered now.
    private func answerCalls() {
        // An immediate answer calls back into this method.
        guard !isAnswering else { return }
        isAnswering = true
        loop: while !isClosed {
            let step = machine.next(unread: outgoing.count)
            if step == .nothing { break }
            // Each message has its own time limit.
            cancel(&messageTimer)
            switch step {
            case .nothing: break loop
            case .begin(let request):
                guard let server else {
                    close()
                    break loop
                }
                server.begin(request, for: self)
            case .send, .end: apply(step)
            }
        }
        isAnswering = false
        updateWait()
    }

    private func apply(_ step: VarlinkConnectionStateMachine.Step) {
        switch step {
        case .nothing, .begin: break
        case .send(let reply): put(reply)
        case .end(let reply):
            isEnded = true
            put(reply)
        }
    }

    /// Sends a last reply and closes the connection.
    func end(_ reply: VarlinkReply) {
        guard !isClosed, !machine.isEnding else { return }
        apply(machine.end(reply))
        updateWait()
    }

    /// The service ends: received calls are still answered, and the first call of a client accepted just now.
    func drain() {
        isDraining = true
        if !isEnded { read() }
        guard !isClosed else { return }
        answerCalls()
    }

    // MARK: Answers

    /// The call under way has its answer.
    func answer(_ reply: VarlinkReply) {
        guard !isClosed else { return }
        if let reply = machine.answered(reply) { put(reply) }
        answerCalls()
    }

    /// The call under way has one of many answers; nil if the client takes no more, else its unread bytes.
    func answerMore(_ reply: VarlinkReply) -> Int? {
        guard !isClosed, let reply = machine.answered(reply) else { return nil }
        put(reply)
        guard reply.continues else {
            answerCalls()
            return nil
        }
        updateWait()
        return isClosed ? nil : outgoing.count
    }

    /// Begins the next call, if there is one.
    func answerNext() {
        guard !isClosed else { return }
        answerCalls()
    }

    /// The call under way is a subscription.
    func subscribe(statusOnly: Bool, to change: CommittedChange) {
        if let reply = machine.subscribed(statusOnly: statusOnly, to: change) { put(reply) }
    }

    func statusChanged(_ replies: inout ChangeReplies) {
        guard !isClosed, let reply = machine.changed(&replies, unread: outgoing.count) else { return }
        put(reply)
        updateWait()
    }

    private func put(_ reply: VarlinkReply) {
        guard !isClosed else { return }
        isAnswered = true
        guard outgoing.isEmpty else { return outgoing += reply.message }
        outgoing = reply.message
        flush()
    }

    private func flush() {
        var start = 0
        while start < outgoing.count {
            let count = outgoing.withUnsafeBytes {
                send(
                    descriptor.number, $0.baseAddress.map { $0 + start }, $0.count - start,
                    Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                start += count
            } else if errno == EAGAIN {
                break
            } else if errno != EINTR {
                return close()
            }
        }
        guard start > 0 else { return }
        // Releases the memory with the content, so that idle clients cost none.
        outgoing = start == outgoing.count ? [] : Array(outgoing[start...])
        cancel(&stallTimer)
        if outgoing.isEmpty, let reply = machine.drained() { put(reply) }
    }

    // MARK: Waiting

    /// Carries out ``VarlinkConnectionStateMachine/wait(unread:hasEnded:isDraining:isAnswered:)``.
    private func updateWait() {
        guard !isClosed, !isAnswering else { return }
        switch machine.wait(
            unread: outgoing.count, hasEnded: isEnded, isDraining: isDraining, isAnswered: isAnswered)
        {
        case .close: return close()
        case .wait(let reads, let writes, let restTime, let readTime):
            var interest = Interest.nothing
            if reads { interest.insert(.readable) }
            if writes { interest.insert(.writable) }
            // A half-closed client is not read, but its end is noticed.
            if interest == .nothing { interest = .hangUp }
            reactor.change(descriptor.number, to: interest)
            arm(&messageTimer, restTime) { $0.end(.malformed("the rest of a message did not come")) }
            arm(&stallTimer, readTime) { $0.close() }
        }
        // The quota compares idle connections alone: one that stays busy, such as a subscription, is no news.
        let wasIdle = isIdle
        isIdle = machine.isIdle && outgoing.isEmpty
        if isIdle || wasIdle { server?.update(self, isIdle: isIdle) }
    }

    private func arm(
        _ timer: inout TimerID?, _ time: Duration?, _ body: @escaping (VarlinkConnection) -> Void
    ) {
        guard let time else { return cancel(&timer) }
        guard timer == nil else { return }
        timer = reactor.schedule(at: Reactor.now + time.inNanoseconds) { [weak self] in
            if let self { body(self) }
        }
    }

    private func cancel(_ timer: inout TimerID?) {
        if let timer { reactor.cancel(timer) }
        timer = nil
    }

    /// Closes the connection at once.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        cancel(&messageTimer)
        cancel(&stallTimer)
        reactor.unwatch(descriptor.number)
        shutdown(descriptor.number, Int32(SHUT_RDWR))
        outgoing = []
        server?.closed(self)
    }
}
