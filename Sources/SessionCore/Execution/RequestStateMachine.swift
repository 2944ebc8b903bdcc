// SPDX-License-Identifier: Apache-2.0

/// Decides what a request does next: one method for each event, one action for each answer.
///
/// The executor carries the actions out. `-` means that the event changes nothing.
///
/// | event \ state | preparing | waiting | sending, receiving | deciding       | asking   | backing off |
/// |---------------|-----------|---------|--------------------|----------------|----------|-------------|
/// | `ready`       | send/wait | -       | -                  | -              | -        | -           |
/// | `asked`       | asking    | -       | deciding           | deciding       | asking   | -           |
/// | `answered`    | -         | -       | -                  | counts         | prepares | -           |
/// | `decided`     | -         | -       | -                  | receiving      | -        | -           |
/// | `ended`       | -         | -       | what follows       | kept, or that  | -        | -           |
/// | `suspended`   | held      | held    | bytes stop         | bytes stop     | held     | held        |
/// | `resumed`     | -         | proceeds| bytes flow         | bytes flow     | -        | -           |
/// | `parked`      | held      | held    | given up, waits    | given up, waits| held     | held (1)    |
/// | `unparked`    | -         | goes on | -                  | -              | -        | -           |
/// | `timerFired`  | -         | -       | -                  | -              | -        | next try    |
/// | `stopped`     | finished  | finished| finished           | finished       | finished | finished    |
///
/// (1) A reconnection waits for the network instead.
///
/// A hold (the user's, the network's) stops nothing but the beginning of an exchange and the bytes of one
/// that is under way: questions are answered and timers run meanwhile.
package struct RequestStateMachine: ~Copyable, Sendable {
    /// What the next exchange sends.
    package enum Step: Sendable, Equatable {
        /// The original request, from the adapters on.
        case attempt
        /// The current request, for the first time or again.
        case request
        /// The request that the last response asks for.
        case redirect
        /// The current request with another body: its own was read, and cannot be read twice.
        case newBody
        /// A request for the bytes that are missing.
        case range
    }

    /// What a timer delays.
    package enum Delay: Sendable, Equatable {
        /// The next try, as a retrier wants it.
        case retry
        /// The same request, on a path that is about to work.
        case reconnection
    }

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

    /// What keeps a request from proceeding.
    package struct Holds: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let user = Holds(rawValue: 1)
        /// The request is parked.
        package static let network = Holds(rawValue: 2)
        /// The exchange under way waits for a connection of its host.
        package static let connection = Holds(rawValue: 4)
    }

    /// What the executor does.
    package enum Action: Sendable, Equatable {
        case nothing
        /// Determine what is sent.
        case prepare(Step)
        /// Begin the exchange.
        case send
        /// Report that the network is waited for, before anything is sent.
        case park
        /// The same after a failure, which is the outcome if the wait is in vain.
        case parkAfterFailure(Step)
        /// Stop the bytes of the exchange, or let them flow again.
        case pause, unpause
        /// End the exchange; its request is sent again later, or the rest of its content is asked for.
        case abandon(Step)
        /// End the exchange, and fail: the outcome is unknown, or the answer cannot be had whole.
        case abandonAndFail(InterruptionVerdict)
        /// Let the content flow to where it was decided to go.
        case passContent
        /// Decide once more what follows: the response was complete before the delegate had decided.
        case conclude
        case cancelTimer
        /// Set the timer of a reconnection.
        case reconnect

        // What follows an exchange.
        case useStoredResponse
        /// Send the request without the cache's conditions.
        case reload
        /// Send the request over a connection of its own.
        case sendElsewhere
        case followRedirect
        case answerTunnel
        case answerChallenge
        case askAboutServer
        case fail
        case finish

        // What follows a failed try.
        case askRetriers
        /// End the task with its failure.
        case complete
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
        guard state != .finished else { return .nothing }
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
        return hasEnded ? .conclude : .passContent
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
        let action = end.action
        if action == .reconnect { state = .backingOff(.reconnection) }
        return action
    }

    package mutating func failed(_ failure: FailedTry) -> Action {
        guard state != .finished else { return .nothing }
        if failure.isBlocked || failure.isForClock, !isParked, let step = failure.stepWhenReachable {
            holds.insert(.network)
            state = .waiting(step)
            return .parkAfterFailure(step)
        }
        return failure.asksRetriers ? .askRetriers : .complete
    }

    // MARK: Delays

    /// A retrier wants another try after a while.
    package mutating func backsOff() {
        if state != .finished { state = .backingOff(.retry) }
    }

    package mutating func timerFired() -> Action {
        guard case .backingOff(let delay) = state else { return .nothing }
        switch delay {
        case .retry:
            state = .preparing
            return .prepare(.attempt)
        case .reconnection:
            state = .waiting(.request)
            return wake()
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
        return isUnderWay ? .unpause : wake()
    }

    /// The network must not be used any more, or the connection is dead; `exchange` says how far it was.
    package mutating func parked(_ exchange: @autoclosure () -> ExchangeProgress) -> Action {
        guard state != .finished, !isParked else { return .nothing }
        holds.insert(.network)
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
        holds.remove(.network)
        return wake()
    }

    /// The exchange waits for a connection of its host, or does not any more; true if that is new.
    package mutating func waits(forConnection isWaiting: Bool) -> Bool {
        guard holds.contains(.connection) != isWaiting else { return false }
        if isWaiting { holds.insert(.connection) } else { holds.remove(.connection) }
        return true
    }

    /// The task ends; false where it has ended before.
    package mutating func stopped() -> Bool {
        guard state != .finished else { return false }
        state = .finished
        holds.remove(.connection)
        number &+= 1
        return true
    }

    private mutating func wake() -> Action {
        guard case .waiting(let step) = state, !isHeld else { return .nothing }
        state = .preparing
        return .prepare(step)
    }
}
