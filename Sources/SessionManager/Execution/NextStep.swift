// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore

/// What a step of a request leads to; the executor carries it out.
enum NextStep {
    case nothing
    /// Send the current request as soon as nothing holds it.
    case exchange
    /// Wait for a Swift task, whose result leads to another step.
    case ask(AsyncStep)
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

/// Work in a Swift task, such as the answer of a delegate or a look-up in the cache, and the step to which
/// its result leads.
struct AsyncStep {
    /// Has an executor begin it.
    let begin: (RequestExecutor) -> Void

    init<Answer: Sendable>(
        _ work: @escaping @Sendable () async -> Answer,
        then: @escaping (RequestSteps, Answer) -> NextStep
    ) {
        begin = {
            $0.ask(work, then: AnswerHandler { executor, answer in executor.perform { then($0, answer) } })
        }
    }
}

/// What is done with an answer; an object, so that it can be bound to the loop.
final class AnswerHandler<Answer> {
    let body: (RequestExecutor, Answer) -> Void
    init(_ body: @escaping (RequestExecutor, Answer) -> Void) { self.body = body }
}
