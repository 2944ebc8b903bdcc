// SPDX-License-Identifier: Apache-2.0

/// Decides when the own server is asked whether there is internet behind one uplink, and what follows from
/// the answer.
///
/// At once with each new path; again and again while the answer is not `full`, with pauses that double; now
/// and then when it is. One answer is enough to know, except for the loss: only a second failure, one second
/// after the first, ends `full` or `portal`. Instants are nanoseconds of a monotonic clock.
///
/// Copyable, since ``UplinkProbeStateMachine`` has a list of them.
package struct InternetProbeStateMachine: Sendable {
    /// The pauses, in nanoseconds.
    package struct Timing: Sendable, Equatable {
        /// After the first answer that is not `full`; doubled with each further one.
        package var firstPause: Int64 = 1_000_000_000
        /// The longest of these.
        package var longestPause: Int64 = 300_000_000_000
        /// The same while something waits for the internet: 15 s.
        package var longestAwaitedPause: Int64 = 15_000_000_000
        /// After an answer that is `full`.
        package var fullPause: Int64 = 600_000_000_000
        /// Between a first failure behind `full` or `portal` and the question that confirms it.
        package var confirmPause: Int64 = 1_000_000_000
        /// After each answer about an expensive uplink that is not in use, while the preferred one works; nil
        /// if it is not asked then.
        ///
        /// At least so long after `full` where the preferred one is expensive.
        package var expensivePause: Int64?

        package init() {}
    }

    /// What is to be done now.
    package struct Step: Sendable, Equatable {
        /// The question under way is not wanted any more.
        package var abandons = false
        /// The server is to be asked; the answer comes back with this number.
        package var question: Int?
        /// When `timeCame` is to be called; nil for never.
        ///
        /// Replaces the deadline before.
        package var deadline: Int64?
        /// What is known now; nil where that has not changed.
        package var state: InternetState?
    }

    private enum State {
        case stopped
        /// There is no path.
        case offline
        /// It is not to be asked.
        case withheld
        case asking(Int)
        case resting(until: Int64)
    }

    /// What is known, with the newest evidence.
    package private(set) var known = InternetAnswer(.unknown)
    /// When the state became what it is.
    package private(set) var since: Int64 = 0
    /// How many answers have counted: not the first failure behind `full` or `portal`.
    package private(set) var answers = 0
    /// The least pause after any answer.
    package var leastPause: Int64 = 0
    /// The least pause after `full`.
    package var leastFullPause: Int64 = 0
    private var state = State.stopped
    /// Whether the last answer was a first failure behind `full` or `portal`.
    private var isDoubted = false
    private var generation: UInt64?
    private var pause: Int64
    /// When the last answer came, and the pause that it asks for; nil behind `full`.
    private var rested: (since: Int64, pause: Int64?) = (0, nil)
    private var questions = 0
    private var timing: Timing
    /// Whether something waits for the internet.
    private var isAwaited = false

    package init(timing: Timing = Timing()) {
        self.timing = timing
        pause = timing.firstPause
    }

    /// When ``timeCame(at:)`` is to be called; nil for never.
    package var nextDeadline: Int64? {
        if case .resting(let deadline) = state { deadline } else { nil }
    }

    /// The path is like this: in the beginning, and whenever something about it has changed.
    ///
    /// - Parameters:
    ///   - isUsable: also where that is unknown: asking finds it out.
    ///   - generation: grows whenever what was found out over the former path is worthless.
    package mutating func pathChanged(isUsable: Bool, generation: UInt64, at now: Int64) -> Step {
        guard isUsable else {
            let isAsking = isAsking
            state = .offline
            self.generation = nil
            return Step(abandons: isAsking, state: learn(InternetAnswer(.none, "there is no path"), now))
        }
        guard generation != self.generation else { return unchanged }
        return begin(generation, learning: InternetAnswer(.unknown), now)
    }

    /// The same uplink is asked in another way from now on: it has become the preferred one, or is not any
    /// more.
    ///
    /// What is known about it stays.
    package mutating func rerouted(generation: UInt64, at now: Int64) -> Step {
        if case .withheld = state {
            return begin(generation, learning: InternetAnswer(.unknown), now)
        }
        return begin(generation, learning: nil, now)
    }

    /// It is not asked from now on, for a reason.
    package mutating func withheld(_ reason: String, at now: Int64) -> Step {
        let isAsking = isAsking
        state = .withheld
        generation = nil
        return Step(abandons: isAsking, state: learn(InternetAnswer(.unknown, reason), now))
    }

    /// The answer to a question; one that was abandoned comes too late and changes nothing.
    package mutating func answered(_ answer: InternetAnswer, question: Int, at now: Int64) -> Step {
        guard case .asking(question) = state else { return unchanged }
        // Behind a portal plain http must not pass since its page was slow once.
        if answer.state == .limited, known.state == .full || known.state == .portal, !isDoubted {
            isDoubted = true
            return rest(timing.confirmPause, now)
        }
        isDoubted = false
        answers += 1
        if answer.state == .full {
            pause = timing.firstPause
            rested = (now, nil)
        } else {
            rested = (now, pause)
            pause = min(pause &* 2, timing.longestPause)
        }
        return rest(restingTime, now, learning: answer)
    }

    /// The pause after the last answer.
    private var restingTime: Int64 {
        guard let pause = rested.pause else { return max(leastPause, leastFullPause, timing.fullPause) }
        let longest = isAwaited ? min(timing.longestPause, timing.longestAwaitedPause) : timing.longestPause
        return max(leastPause, min(pause, longest))
    }

    /// The pauses are others from now on, the one that has begun too.
    ///
    /// - Parameter isAwaited: Whether something waits for the internet.
    package mutating func pausesChanged(_ timing: Timing, isAwaited: Bool, at now: Int64) -> Step {
        guard timing != self.timing || isAwaited != self.isAwaited else { return unchanged }
        self.timing = timing
        self.isAwaited = isAwaited
        pause = max(timing.firstPause, min(pause, timing.longestPause))
        guard case .resting = state, !isDoubted else { return unchanged }
        state = .resting(until: max(now, rested.since &+ restingTime))
        return unchanged
    }

    /// The deadline is there; a timer that fires early, or after it was replaced, gets the right one.
    package mutating func timeCame(at now: Int64) -> Step {
        guard case .resting(let deadline) = state, deadline <= now else { return unchanged }
        return Step(question: ask())
    }

    /// A transfer has failed, or the state is wanted: asked at once, unless a question is under way or about
    /// to confirm a failure.
    ///
    /// - Parameter isNews: whether the pauses begin anew: not where the caller counts the tries.
    package mutating func hurried(isNews: Bool = true) -> Step {
        guard case .resting = state, !isDoubted else { return unchanged }
        if isNews { pause = timing.firstPause }
        return Step(question: ask())
    }

    /// The state is no longer wanted.
    package mutating func stopped(at now: Int64) -> Step {
        let isAsking = isAsking
        state = .stopped
        generation = nil
        return Step(abandons: isAsking, state: learn(InternetAnswer(.unknown), now))
    }

    /// Whether a question is under way.
    package var isAsking: Bool {
        if case .asking = state { true } else { false }
    }

    /// Whether an answer to a question would count.
    package func isAsking(_ number: Int) -> Bool {
        if case .asking(number) = state { true } else { false }
    }

    private var unchanged: Step { Step(deadline: nextDeadline) }

    private mutating func begin(_ generation: UInt64, learning answer: InternetAnswer?, _ now: Int64) -> Step
    {
        self.generation = generation
        pause = timing.firstPause
        isDoubted = false
        let isAsking = isAsking
        return Step(abandons: isAsking, question: ask(), state: answer.flatMap { learn($0, now) })
    }

    private mutating func rest(_ pause: Int64, _ now: Int64, learning answer: InternetAnswer? = nil) -> Step {
        state = .resting(until: now &+ pause)
        return Step(deadline: now &+ pause, state: answer.flatMap { learn($0, now) })
    }

    private mutating func ask() -> Int {
        questions += 1
        state = .asking(questions)
        return questions
    }

    private mutating func learn(_ new: InternetAnswer, _ now: Int64) -> InternetState? {
        defer { known = new }
        guard new.state != known.state else { return nil }
        since = now
        isDoubted = false
        return new.state
    }
}
