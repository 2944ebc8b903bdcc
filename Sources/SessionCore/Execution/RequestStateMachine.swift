// SPDX-License-Identifier: Apache-2.0

/// Decides what a request does next: one method for each event, one action for each answer.
///
/// The executor carries the actions out. Under way is `sending` until `receivedHead`, then
/// `receiving`; `-` is no change.
///
/// | event        | preparing   | waiting   | under way | deciding    | asking    | backing off | finished |
/// |--------------|-------------|-----------|-----------|-------------|-----------|-------------|----------|
/// | ready        | sending 1   | -         | -         | -           | -         | -           | -        |
/// | receivedHead | -           | -         | receiving | -           | -         | -           | -        |
/// | asked        | asking      | -         | deciding  | anew 2      | anew 2    | -           | -        |
/// | answered     | late        | late      | late      | counts      | preparing | late        | late     |
/// | decided      | -           | -         | -         | receiving 3 | -         | -           | -        |
/// | ended        | -           | -         | next 4    | kept 3      | -         | -           | -        |
/// | failed       | waiting 5   | waiting 5 | waiting 5 | waiting 5   | waiting 5 | waiting 5   | -        |
/// | backsOff     | backing off | -         | -         | -           | -         | -           | -        |
/// | timerFired   | -           | -         | -         | -           | -         | next try 6  | -        |
/// | suspended    | held        | held      | stops     | stops       | held      | held        | -        |
/// | resumed      | free        | next 6    | flows     | flows       | free      | free        | -        |
/// | parked       | held        | held      | waiting 7 | waiting 7   | held      | held 6      | -        |
/// | unparked     | free        | next 6    | free      | free        | free      | free        | -        |
/// | waits        | untimed     | untimed   | untimed   | untimed     | untimed   | untimed     | -        |
/// | finished     | finished    | finished  | finished  | finished    | finished  | finished    | -        |
///
/// 1. `waiting` under a hold, and where the network must not be used, which is a hold then.
/// 2. The answer to the question before is late.
/// 3. A whole response is kept until it is decided about, and ends then; a broken one leads to what is next.
/// 4. What the end asks for: `preparing`, or `backingOff` before a reconnection.
/// 5. Where the network or the clock explains the failure, and the request may be sent again; else the
///    retriers are asked, or the task is finished.
/// 6. Unless a hold is left, which a reconnection and a waiting request wait for; a retry does not. The
///    network's hold takes the place of a reconnection's timer.
/// 7. The exchange is given up. The try fails where its request must not be sent again; a whole response is
///    only held.
///
/// A hold (the user's, the network's) stops nothing but the beginning of an exchange and the bytes of one
/// that is under way: questions are answered and timers run meanwhile. The wait for a connection stops the
/// limit of time alone.
package struct RequestStateMachine: ~Copyable, Sendable {
    package enum State: Sendable, Equatable {
        /// The next exchange, or the outcome, is being determined.
        case preparing
        /// The next exchange is known, and a hold is in its way.
        case waiting(Step)
        /// An exchange is under way, and no head has come.
        case sending
        /// The head of the response has come, and its content follows.
        case receiving
        /// A delegate decides about the head; the content waits, all of which may have come.
        case deciding(hasEnded: Bool)
        /// No exchange is under way, and the answer to a question determines what is next.
        case asking
        case backingOff(Delay)
        case finished
    }

    /// Identifies a question: an answer to an earlier one is late.
    package struct QuestionID: Sendable, Equatable {
        fileprivate let number: UInt32
    }

    package private(set) var state = State.preparing
    package private(set) var holds: Holds = []
    private var number: UInt32 = 0

    package init() {}

    package var isFinished: Bool { state == .finished }
    package var isParked: Bool { holds.contains(.network) }
    /// Whether the limit for the whole task counts: not while it waits for something else than the server.
    package var isTimed: Bool { state != .finished && holds.isEmpty }
    private var isHeld: Bool { !holds.isDisjoint(with: [.user, .network]) }

    /// Whether an exchange is under way, or its response has not been decided about.
    package var isUnderWay: Bool {
        switch state {
        case .sending, .receiving, .deciding: true
        case .preparing, .waiting, .asking, .backingOff, .finished: false
        }
    }

    // MARK: Exchanges

    /// The current request is to be sent, unless `isBlocked`: the network must not be used by it now.
    package mutating func ready(isBlocked: Bool) -> Action {
        guard state == .preparing else { return .nothing }
        state = .waiting(.request)
        if isHeld { return .nothing }
        if isBlocked {
            holds.insert(.network)
            return .park
        }
        number &+= 1
        state = .sending
        return .send
    }

    /// The head of the response has come.
    package mutating func receivedHead() {
        if state == .sending { state = .receiving }
    }

    /// A delegate, a handler, a file or a cache is asked; the answer is given to ``answered(_:)``.
    package mutating func asked() -> QuestionID {
        number &+= 1
        switch state {
        case .preparing: state = .asking
        case .sending, .receiving: state = .deciding(hasEnded: false)
        case .waiting, .deciding, .asking, .backingOff, .finished: break
        }
        return QuestionID(number: number)
    }

    /// An answer has come; false after the end, and where another exchange or question is under way.
    package mutating func answered(_ question: QuestionID) -> Bool {
        guard question.number == number else { return false }
        switch state {
        case .asking: state = .preparing
        case .deciding: break
        case .preparing, .waiting, .sending, .receiving, .backingOff, .finished: return false
        }
        return true
    }

    /// It is decided where the content goes.
    package mutating func decided() -> Action {
        guard case .deciding(let hasEnded) = state else { return .nothing }
        state = .receiving
        return hasEnded ? .endExchange : .resumeContent
    }

    package mutating func ended(_ end: ExchangeEnd) -> Action {
        guard isUnderWay else { return .nothing }
        if case .deciding = state, end.failure == nil {
            state = .deciding(hasEnded: true)
            return .nothing
        }
        // What is asked about the exchange does not matter any more.
        number &+= 1
        state = .preparing
        guard let next = end.followUp else {
            state = .backingOff(.reconnection)
            return .reconnect
        }
        return .follow(next)
    }

    package mutating func failed(_ failure: FailedTry) -> Action {
        guard state != .finished else { return .nothing }
        if failure.isBlocked || failure.isForClock, !isParked, let step = failure.stepWhenReachable {
            holds.formUnion(failure.isForClock ? [.network, .clock] : .network)
            state = .waiting(step)
            return .parkAfterFailure(step)
        }
        return failure.asksRetriers ? .askRetriers : .finish
    }

    // MARK: Delays

    /// A retrier wants another try after a while.
    package mutating func backsOff() {
        if state == .preparing { state = .backingOff(.retry) }
    }

    package mutating func timerFired() -> Action {
        guard case .backingOff(let delay) = state else { return .nothing }
        switch delay {
        case .retry:
            state = .preparing
            return .prepare(.attempt)
        case .reconnection:
            state = .waiting(.request)
            return proceed()
        }
    }

    // MARK: Holds

    package mutating func suspended() -> Action {
        guard state != .finished, !holds.contains(.user) else { return .nothing }
        holds.insert(.user)
        return isUnderWay ? .pause : .nothing
    }

    package mutating func resumed() -> Action {
        guard state != .finished, holds.contains(.user) else { return .nothing }
        holds.remove(.user)
        return isUnderWay ? .unpause : proceed()
    }

    /// The network must not be used any more, or the connection is dead; `exchange` says how far it was.
    package mutating func parked(
        _ exchange: @autoclosure () -> ExchangeProgress, needsInternet: Bool = false
    ) -> Action {
        guard state != .finished, !isParked else { return .nothing }
        holds.formUnion(needsInternet ? [.network, .internet] : .network)
        switch state {
        case .backingOff(.reconnection):
            state = .waiting(.request)
            return .cancelTimer
        case .sending, .receiving, .deciding(hasEnded: false):
            number &+= 1
            let progress = exchange()
            guard let step = progress.nextStep else {
                state = .preparing
                return .abandonAndFail(progress.verdict)
            }
            state = .waiting(step)
            return .abandon(step)
        case .preparing, .waiting, .deciding, .asking, .backingOff, .finished: return .nothing
        }
    }

    /// The network may be used again.
    package mutating func unparked() -> Action {
        guard state != .finished, isParked else { return .nothing }
        holds.subtract([.network, .clock, .internet])
        return proceed()
    }

    /// The exchange waits for a connection of its host, or does not any more; true if that is new.
    package mutating func waits(forConnection isWaiting: Bool) -> Bool {
        guard state != .finished, holds.contains(.connection) != isWaiting else { return false }
        if isWaiting { holds.insert(.connection) } else { holds.remove(.connection) }
        return true
    }

    /// The task ends; false where it has ended before.
    package mutating func finished() -> Bool {
        guard state != .finished else { return false }
        state = .finished
        holds.remove(.connection)
        number &+= 1
        return true
    }

    private mutating func proceed() -> Action {
        guard case .waiting(let step) = state, !isHeld else { return .nothing }
        state = .preparing
        return .prepare(step)
    }
}
