// SPDX-License-Identifier: Apache-2.0

/// Decides when the own server is asked whether there is internet behind the path, and what follows from the
/// answer.
///
/// At once with each new path; again and again while the answer is not `full`, with pauses that double; now
/// and then when it is. Instants are nanoseconds of a monotonic clock.
package struct InternetProbeStateMachine: ~Copyable, Sendable {
    /// The pauses, in nanoseconds.
    package struct Timing: Sendable, Equatable {
        /// After the first answer that is not `full`; doubled with each further one.
        package var firstPause: Int64 = 1_000_000_000
        /// The longest of these.
        package var longestPause: Int64 = 300_000_000_000
        /// After an answer that is `full`.
        package var fullPause: Int64 = 600_000_000_000

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
        case asking(Int)
        case resting(until: Int64)
    }

    private var state = State.stopped
    private var known = InternetState.unknown
    private var generation: UInt64?
    private var pause: Int64
    private var questions = 0
    private let timing: Timing

    package init(timing: Timing = Timing()) {
        self.timing = timing
        pause = timing.firstPause
    }

    /// The path is like this: in the beginning, and whenever something about it has changed.
    ///
    /// - Parameters:
    ///   - isUsable: also where that is unknown: asking finds it out.
    ///   - generation: grows whenever what was found out over the former path is worthless.
    package mutating func pathChanged(isUsable: Bool, generation: UInt64) -> Step {
        guard isUsable else {
            let isAsking = isAsking
            state = .offline
            self.generation = nil
            return Step(abandons: isAsking, state: learn(.none))
        }
        guard generation != self.generation else { return unchanged }
        self.generation = generation
        pause = timing.firstPause
        let isAsking = isAsking
        return Step(abandons: isAsking, question: ask(), state: learn(.unknown))
    }

    /// The answer to a question; one that was abandoned comes too late and changes nothing.
    package mutating func answered(_ answer: InternetState, question: Int, at now: Int64) -> Step {
        guard case .asking(question) = state else { return unchanged }
        var rest = timing.fullPause
        if answer == .full {
            pause = timing.firstPause
        } else {
            rest = pause
            pause = min(pause &* 2, timing.longestPause)
        }
        state = .resting(until: now &+ rest)
        return Step(deadline: now &+ rest, state: learn(answer))
    }

    /// The deadline is there; a timer that fires early, or after it was replaced, gets the right one.
    package mutating func timeCame(at now: Int64) -> Step {
        guard case .resting(let deadline) = state, deadline <= now else { return unchanged }
        return Step(question: ask())
    }

    /// A transfer has failed, or the state is wanted: asked at once, unless a question is under way.
    package mutating func hurried() -> Step {
        guard case .resting = state else { return unchanged }
        pause = timing.firstPause
        return Step(question: ask())
    }

    /// The state is no longer wanted.
    package mutating func stopped() -> Step {
        let isAsking = isAsking
        state = .stopped
        generation = nil
        return Step(abandons: isAsking, state: learn(.unknown))
    }

    private var isAsking: Bool {
        if case .asking = state { true } else { false }
    }

    private var unchanged: Step {
        if case .resting(let deadline) = state { Step(deadline: deadline) } else { Step() }
    }

    private mutating func ask() -> Int {
        questions += 1
        state = .asking(questions)
        return questions
    }

    private mutating func learn(_ new: InternetState) -> InternetState? {
        guard new != known else { return nil }
        known = new
        return new
    }
}
