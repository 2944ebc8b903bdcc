// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

// What handlers and delegates are asked, and what their answers lead to.
extension RequestSteps {
    func adaptation(by interceptor: any RequestInterceptor) -> AsyncStep {
        AsyncStep(interception.adaptation(interceptor, chain)) { steps, result in
            do {
                let request = try result.get()
                steps.chain.request = request
                steps.task.publish(.adapted(request))
                return steps.beginTry()
            } catch {
                let error = steps.chain.sessionError(error)
                steps.task.publish(.adaptationFailed(error))
                return .failTry(error, againFrom: .attempt)
            }
        }
    }

    func redirectQuestion(
        _ head: SessionResponse, _ proposed: SessionRequest, _ rules: RedirectRules
    ) -> AsyncStep {
        let (task, request, delegate) = (task, chain.request, task.plan.delegate)
        let handler = task.plan.options.redirectHandler
        return AsyncStep { () async -> SessionRequest? in
            if let handler { return await handler.redirect(to: proposed, from: request, response: head) }
            return await delegate?.task(task, willRedirectTo: proposed, from: request, response: head)
        } then: { steps, answer in
            guard let answer else {
                if delegate != nil { return .ask(steps.contentQuestion(head)) }
                return steps.open { steps throws(SessionError) in try steps.finalSink(for: head) }
            }
            return steps.open { steps throws(SessionError) in
                steps.chain.next = try rules.admitted(answer, proposed: proposed, sent: request)
                return ContentRouter.discarding
            }
        }
    }

    func contentQuestion(_ head: SessionResponse) -> AsyncStep {
        let (task, delegate) = (task, task.plan.delegate)
        return AsyncStep {
            await delegate?.task(task, didReceive: head) ?? .allow
        } then: { steps, answer in
            steps.open { steps throws(SessionError) in
                try steps.allow(answer)
                return try steps.finalSink(for: head)
            }
        }
    }

    /// The same about a response that is stored.
    func storedContentQuestion(_ data: Data, _ response: SessionResponse) -> AsyncStep {
        let (task, delegate) = (task, task.plan.delegate)
        return AsyncStep {
            await delegate?.task(task, didReceive: response) ?? .allow
        } then: { steps, answer in
            do throws(SessionError) {
                try steps.allow(answer)
                return steps.hand(data, response)
            } catch {
                return .finishFailed(error)
            }
        }
    }

    private func allow(_ answer: ResponseDisposition) throws(SessionError) {
        switch answer {
        case .allow: break
        case .cancel: throw task.cancelledError
        case .becomeDownload: becomeDownload()
        }
    }

    /// Lets the content go to a sink; where it has none the exchange has failed, as without a question.
    private func open(_ sink: (RequestSteps) throws(SessionError) -> any ContentSink) -> NextStep {
        do throws(SessionError) {
            try content.open(try sink(self))
            return .decided
        } catch {
            return error.code == .cancelled ? .finishFailed(error) : .failExchange(error)
        }
    }

    /// Has the delegate make a new body for a request whose own was read and cannot be read twice.
    func askForBody(_ next: SessionRequest) -> NextStep {
        let (task, delegate) = (task, task.plan.delegate)
        return .ask(
            AsyncStep {
                await delegate?.task(task, needsNewBodyFor: next)
            } then: { steps, body in
                if let body { return steps.send(next, with: body) }
                return .finishFailed(
                    .bodyExhausted("the server wants the request once more, and its body", next.url))
            })
    }
}
