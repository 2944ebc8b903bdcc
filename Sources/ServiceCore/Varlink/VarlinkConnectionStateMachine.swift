// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

/// The protocol of one connection: calls are answered one after the other, in their order.
///
/// The memory for a client that does not read is bounded: above `unread` bytes no further call is begun, and
/// a subscription stores only the newest change.
package struct VarlinkConnectionStateMachine: ~Copyable, Sendable {
    /// What to do next.
    package enum Step: Sendable, Equatable {
        /// Nothing, until bytes come, a call is answered, or the reader reads.
        case nothing
        /// Begin with this; ``answered(_:)`` or ``subscribed(statusOnly:to:)`` has to follow.
        case begin(ServiceRequest)
        /// Send this.
        case send(VarlinkReply)
        /// Send this and close.
        case end(VarlinkReply)
    }

    private struct Subscription: Sendable {
        var statusOnly: Bool
        /// The status of the last reply.
        var reported: ReachabilityStatus
    }

    private enum State: Sendable {
        case ready
        /// A call is being worked on.
        case busy(oneway: Bool)
        case monitoring(Subscription)
        case ending
    }

    private var state = State.ready
    /// The newest change for a subscriber, which waits for the reader.
    private var held: CommittedChange?
    private var framer: VarlinkFramer
    private let limits: VarlinkLimits

    package init(limits: VarlinkLimits) {
        self.limits = limits
        framer = VarlinkFramer(limit: limits.messageSize)
    }

    /// Whether the rest of a message is missing.
    private var awaitsRest: Bool { if case .ready = state { framer.isInside } else { false } }

    /// Whether no call is under way.
    package var isIdle: Bool { if case .ready = state { !framer.isInside } else { false } }

    /// Whether a call is under way, behind which others may wait.
    private var isAtWork: Bool {
        switch state {
        case .busy, .monitoring: true
        case .ready, .ending: false
        }
    }

    /// Whether this is a subscription.
    package var isMonitoring: Bool { if case .monitoring = state { true } else { false } }

    /// Whether it takes no more bytes.
    package var isEnding: Bool { if case .ending = state { true } else { false } }

    package mutating func received(_ bytes: some Collection<UInt8>) -> Step {
        switch state {
        case .ending: return .nothing
        case .ready: framer.append(bytes)
        case .busy, .monitoring:
            framer.append(bytes)
            // Bytes behind an unfinished call are bounded like a message.
            if framer.count > limits.messageSize {
                return end(.limit("more than \(limits.messageSize) bytes of calls behind an unfinished one"))
            }
        }
        return .nothing
    }

    /// The next step; called again until it is `nothing`; the client has not read `unread` bytes yet.
    package mutating func next(unread: Int) -> Step {
        guard case .ready = state, unread <= limits.unread else { return .nothing }
        while true {
            let message: [UInt8]
            switch framer.next() {
            case .incomplete: return .nothing
            case .tooLong: return end(.malformed("a message is longer than \(limits.messageSize) bytes"))
            case .message(let next): message = next
            }
            let call: VarlinkCall
            do throws(VarlinkFault) { call = try VarlinkCall(message: message) } catch {
                return end(.malformed(error.description))
            }
            switch ServiceRequest.read(call) {
            case .success(let request):
                state = .busy(oneway: call.oneway)
                return .begin(request)
            // A oneway call gets no refusal either.
            case .failure where call.oneway: continue
            case .failure(let refusal): return .send(refusal.reply)
            }
        }
    }

    /// The call that was begun has an answer, the last one unless more follow; nil where the client wants
    /// none.
    package mutating func answered(_ reply: VarlinkReply) -> VarlinkReply? {
        // Race: the connection ended while the answer was on its way.
        guard case .busy(let oneway) = state else { return nil }
        if oneway || !reply.continues { state = .ready }
        return oneway ? nil : reply
    }

    /// The call becomes a subscription; the reply is the current state.
    package mutating func subscribed(statusOnly: Bool, to change: CommittedChange) -> VarlinkReply? {
        guard case .busy(let oneway) = state else { return nil }
        guard !oneway else {
            state = .ready
            return nil
        }
        state = .monitoring(Subscription(statusOnly: statusOnly, reported: change.status))
        var replies = ChangeReplies(change)
        return replies.reply(.initial, previous: nil)
    }

    /// The reply that a subscriber gets now, if any.
    package mutating func changed(_ replies: inout ChangeReplies, unread: Int) -> VarlinkReply? {
        guard case .monitoring(var subscription) = state else { return nil }
        let change = replies.change
        if change.isInternet, subscription.statusOnly { return nil }
        guard unread <= limits.unread else {
            // A path that was skipped before may have changed as well.
            let isAlone = held?.isInternet ?? true
            held = change
            if !isAlone { held?.isInternet = false }
            return nil
        }
        return notify(&replies, &subscription)
    }

    /// The client has read everything: sends the change that was held.
    package mutating func drained() -> VarlinkReply? {
        guard held != nil, case .monitoring(var subscription) = state, let change = held.take() else {
            return nil
        }
        var replies = ChangeReplies(change)
        return notify(&replies, &subscription)
    }

    private mutating func notify(
        _ replies: inout ChangeReplies, _ subscription: inout Subscription
    ) -> VarlinkReply? {
        let (former, status) = (subscription.reported, replies.change.status)
        held = nil
        subscription.reported = status
        state = .monitoring(subscription)
        // Skipped changes are summed up: a status that is back counts as a change of the path.
        if former != status { return replies.reply(.status, previous: former) }
        return subscription.statusOnly ? nil : replies.reply(.path, previous: former)
    }

    /// What the socket waits for.
    package enum Wait: Sendable, Equatable {
        case close
        /// - restTime: the limit for the rest of a message; readTime: for the client to read what was sent.
        case wait(reads: Bool, writes: Bool, restTime: Duration?, readTime: Duration?)
    }

    /// A client that does not read is closed after `stallTime`, a subscriber too; until then
    /// ``changed(_:unread:)`` skips it.
    ///
    /// - Parameters:
    ///   - unread: the bytes that the client has not read yet.
    ///   - hasEnded: whether the client sends no more, or is not listened to any more.
    ///   - isDraining: whether the service ends and the connection with it, once it is answered.
    ///   - isAnswered: whether it was sent anything.
    package func wait(unread: Int, hasEnded: Bool, isDraining: Bool, isAnswered: Bool) -> Wait {
        // A client that has only closed its own direction still reads the answers to its calls, as those that
        // send a call and the end of it do (socat, nc -N).
        if unread == 0, hasEnded && !isAtWork || isDraining && (isMonitoring || isIdle && isAnswered) {
            return .close
        }
        let isBehind = unread > limits.unread
        return .wait(
            reads: !hasEnded && (!isBehind || isMonitoring), writes: unread > 0,
            restTime: awaitsRest && !isBehind ? limits.messageTime : nil,
            readTime: unread > 0 ? limits.stallTime : nil)
    }

    /// Ends the conversation: nothing that the client sends is read any more.
    package mutating func end(_ reply: VarlinkReply) -> Step {
        state = .ending
        held = nil
        return .end(reply)
    }
}
