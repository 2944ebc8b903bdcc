// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore

/// What a step of a request leads to; the executor carries it out.
enum NextStep {
    case nothing
    /// Send the current request as soon as nothing holds it.
    case exchange
    /// Ask elsewhere; the answer leads to another step.
    case ask(Question)
    /// Do with a complete response what is left to do.
    case finish(SessionResponse?, after: FinalResponse.Stage? = nil)
    /// End the try with a failure; where the network is waited for, it begins again from a step.
    case fail(SessionError, againFrom: RequestStateMachine.Step = .request)
    /// Begin another try, at once or after a delay.
    case tryAgain(after: Duration?)
    /// Let the content go to where it was decided.
    case passContent
    /// End the task with an error, whatever it does now.
    case end(SessionError)
    case complete(TaskOutcome)
}

/// Something that is asked in a Swift task, and the step to which the answer leads.
struct Question {
    /// Has an executor ask it.
    let ask: (RequestExecutor) -> Void

    init<Answer: Sendable>(
        _ question: @escaping @Sendable () async -> Answer,
        then: @escaping (RequestSteps, Answer) -> NextStep
    ) {
        ask = { $0.ask(question) { executor, answer in executor.perform { then($0, answer) } } }
    }
}
