// SPDX-License-Identifier: Apache-2.0

/// Decides when an activity indicator is on: it comes and goes late, so that short work makes no flicker.
package struct ActivityStateMachine: ~Copyable, Sendable {
    private enum State {
        case notActive
        case delayingStart
        case active
        case delayingEnd
    }

    /// What the shell has to do.
    package enum Answer: Sendable, Equatable {
        case nothing
        /// Calls `timerFired` with this number after the delay; an earlier timer no longer counts.
        case armTimer(Int, after: Duration)
        case show
        case hide
    }

    private let activationDelay: Duration
    private let completionDelay: Duration
    private var state = State.notActive
    private var isEnabled = false
    /// A set: a task that is cancelled while it is suspended must not count twice.
    private var tasks: Set<Int> = []
    private var others = 0
    private var timer = 0

    package init(activationDelay: Duration, completionDelay: Duration) {
        self.activationDelay = activationDelay
        self.completionDelay = completionDelay
    }

    package var count: Int { tasks.count + others }
    /// Whether it is on.
    package var isVisible: Bool { state == .active || state == .delayingEnd }
    /// Whether it may be on.
    package var isOn: Bool { isEnabled }

    /// A task runs.
    package mutating func began(task: Int) -> Answer {
        tasks.insert(task)
        return evaluate()
    }

    /// A task is suspended or over.
    package mutating func ended(task: Int) -> Answer {
        tasks.remove(task)
        return evaluate()
    }

    /// Something else begins.
    package mutating func incremented() -> Answer {
        others += 1
        return evaluate()
    }

    /// Something else is over; not below none.
    package mutating func decremented() -> Answer {
        others = max(0, others - 1)
        return evaluate()
    }

    /// It may be on, or not; counting continues in any case.
    package mutating func enabled(_ isEnabled: Bool) -> Answer {
        self.isEnabled = isEnabled
        if isEnabled { return evaluate() }
        let wasVisible = isVisible
        state = .notActive
        timer += 1
        return wasVisible ? .hide : .nothing
    }

    /// A delay is over; a timer that was overtaken by an event changes nothing.
    package mutating func timerFired(_ number: Int) -> Answer {
        guard number == timer else { return .nothing }
        switch state {
        case .delayingStart:
            state = .active
            return .show
        case .delayingEnd:
            state = .notActive
            return .hide
        case .notActive, .active: return .nothing
        }
    }

    private mutating func evaluate() -> Answer {
        guard isEnabled else { return .nothing }
        switch (state, count > 0) {
        case (.notActive, true): return wait(activationDelay, in: .delayingStart)
        case (.active, false): return wait(completionDelay, in: .delayingEnd)
        case (.delayingStart, false):
            state = .notActive
            timer += 1
        case (.delayingEnd, true):
            state = .active
            timer += 1
        case (.notActive, false), (.active, true), (.delayingStart, true), (.delayingEnd, false): break
        }
        return .nothing
    }

    private mutating func wait(_ delay: Duration, in waiting: State) -> Answer {
        state = waiting
        timer += 1
        return delay > .zero ? .armTimer(timer, after: delay) : timerFired(timer)
    }
}
