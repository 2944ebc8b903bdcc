// SPDX-License-Identifier: Apache-2.0

import ReachabilityCore

/// What becomes of the bytes of one connection: calls are answered one after the other, in their order.
///
/// A reader that stands still costs no more than the limits say: above `unread` bytes no further call is begun, and a
/// subscription keeps the newest change alone.
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
        var told: ReachabilityStatus
        /// The newest change, which waits for the reader.
        var held: CommittedChange?
    }

    private enum State: Sendable {
        case ready
        /// A call is being worked on.
        case busy(oneway: Bool)
        case monitoring(Subscription)
        case ending
    }

    private var state = State.ready
    private var framer: VarlinkFramer
    private let limits: VarlinkLimits

    package init(limits: VarlinkLimits) {
        self.limits = limits
        framer = VarlinkFramer(limit: limits.messageSize)
    }

    /// Whether a message has begun whose rest is missing: the time for it runs.
    package var awaitsRest: Bool {
        if case .ready = state { framer.isInside } else { false }
    }

    /// Whether nothing is under way, so that nothing is lost with the connection but the connection.
    package var isIdle: Bool {
        if case .ready = state { !framer.isInside } else { false }
    }

    /// Whether this is a subscription.
    package var isMonitoring: Bool {
        if case .monitoring = state { true } else { false }
    }

    /// Whether it takes no more bytes.
    package var isEnding: Bool {
        if case .ending = state { true } else { false }
    }

    /// Takes in what the client sent.
    package mutating func received(_ bytes: some Collection<UInt8>) -> Step {
        switch state {
        case .ending: return .nothing
        case .ready: framer.append(bytes)
        case .busy, .monitoring:
            framer.append(bytes)
            // What waits behind an unfinished call is bounded like a message.
            if framer.count > limits.messageSize {
                return end(.limit("more than \(limits.messageSize) bytes of calls behind an unfinished one"))
            }
        }
        return .nothing
    }

    /// What is to be done next; to be asked again after everything but `nothing`.
    ///
    /// - Parameter unread: The bytes that the client has not read yet.
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
            // Who wants no reply is not told of a refusal either.
            case .failure where call.oneway: continue
            case .failure(let refusal): return .send(refusal.reply)
            }
        }
    }

    /// The call that was begun has its answer; nil where the client wants none.
    package mutating func answered(_ reply: VarlinkReply) -> VarlinkReply? {
        // Race: the connection ended while the answer was on its way.
        guard case .busy(let oneway) = state else { return nil }
        state = .ready
        return oneway ? nil : reply
    }

    /// The call that was begun is a subscription from now on; the reply tells how things are.
    package mutating func subscribed(statusOnly: Bool, to change: CommittedChange) -> VarlinkReply? {
        guard case .busy(let oneway) = state else { return nil }
        guard !oneway else {
            state = .ready
            return nil
        }
        state = .monitoring(Subscription(statusOnly: statusOnly, told: change.status))
        return Self.reply(change, .initial, previous: nil)
    }

    /// Something has changed; the reply that a subscriber gets now, if any.
    package mutating func changed(_ change: CommittedChange, unread: Int) -> VarlinkReply? {
        guard case .monitoring(var subscription) = state else { return nil }
        if change.isInternet, subscription.statusOnly { return nil }
        guard unread <= limits.unread else {
            // A path that was left out before may have changed as well.
            let isAlone = subscription.held?.isInternet ?? true
            subscription.held = change
            if !isAlone { subscription.held?.isInternet = false }
            state = .monitoring(subscription)
            return nil
        }
        return notify(change, &subscription)
    }

    /// The client has read everything: a change that waited for it goes out.
    package mutating func drained() -> VarlinkReply? {
        guard case .monitoring(var subscription) = state, let change = subscription.held else { return nil }
        return notify(change, &subscription)
    }

    private mutating func notify(
        _ change: CommittedChange, _ subscription: inout Subscription
    ) -> VarlinkReply? {
        let former = subscription.told
        subscription.held = nil
        subscription.told = change.status
        state = .monitoring(subscription)
        // Of changes that were left out the sum counts: a status that is back is a path at most.
        if former != change.status { return Self.reply(change, .status, previous: former) }
        return subscription.statusOnly ? nil : Self.reply(change, .path, previous: former)
    }

    private static func reply(
        _ change: CommittedChange, _ event: ReachabilityUpdate.Event, previous: ReachabilityStatus?
    ) -> VarlinkReply {
        var report = change.report
        report.change = Report.Change(
            event: event, previous: previous, isInternet: change.isInternet && event == .path)
        return VarlinkReply(report, continues: true)
    }

    /// Ends the conversation: nothing that the client sends is read any more.
    package mutating func end(_ reply: VarlinkReply) -> Step {
        state = .ending
        return .end(reply)
    }
}
