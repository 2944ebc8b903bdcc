// SPDX-License-Identifier: Apache-2.0

import SessionCore

/// What a step of a request leads to; the executor carries it out.
enum NextStep {
    case nothing
    /// Send the current request as soon as nothing holds it.
    case exchange
    /// Send this request, which becomes the current one.
    case send(SessionRequest)
    /// Wait for a Swift task, whose result leads to another step.
    case ask(AsyncStep)
    /// It is decided where the content goes.
    case decided
    /// Do with a complete response what is left to do.
    case useResponse(SessionResponse)
    /// Use a stored response; where it is stale, another task asks whether it is still good.
    case useStored(StoredResponse, SessionResponse, isStale: Bool)
    /// End the try with a failure; where the network is waited for, it begins again from a step.
    case failTry(SessionError, againFrom: RequestStateMachine.Step = .request)
    /// End the exchange, which is under way, as one that has failed.
    case failExchange(SessionError)
    /// Begin another try after a delay.
    case backOff(Duration)
    case finish(TaskOutcome)
    /// Finish the task with an error, whatever it does now.
    case finishFailed(SessionError)
}

/// Work in a Swift task, such as the answer of a delegate or a look-up in the cache, and the step to which
/// its result leads.
struct AsyncStep {
    let work: @Sendable () async -> Void
    /// What follows the work; on the loop's thread.
    let next: (RequestSteps) -> NextStep

    init<Answer: Sendable>(
        _ work: @escaping @Sendable () async -> Answer,
        then: @escaping (RequestSteps, Answer) -> NextStep
    ) {
        let answer = Future<Answer>()
        self.work = { answer.fulfil(await work()) }
        next = { steps in answer.current.map { then(steps, $0) } ?? .nothing }
    }
}
