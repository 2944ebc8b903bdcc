// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import SessionCore

// The head of a response, the end of an exchange, and what becomes of the final response.
extension RequestSteps {
    /// Where the content goes, and what is asked about it first.
    func route(_ head: SessionResponse, _ facts: ResponseHeadInfo) throws(SessionError) -> (
        any ContentSink, AsyncStep?
    ) {
        if let cache, cache.received(head, for: chain.request) { return (ContentRouter.discarding, nil) }
        if head.statusCode == 421, chain.receivedMisdirection() { return (ContentRouter.discarding, nil) }
        task.setResponse(head)
        let decision = try content.route(
            head, facts, chain, redirectLimit: engine.configuration.maximumRedirects,
            isChallenge: chain.isChallenge(head, engine))
        switch decision {
        case .sink(let sink)?: return (sink, nil)
        case .ask(.redirect(let proposed, let rules))?:
            return (content.holdBack(), redirectDecision(head, proposed, rules))
        case .ask(.content)?: return (content.holdBack(), contentDecision(head))
        case nil: return (try finalSink(for: head), nil)
        }
    }

    private func finalSink(for head: SessionResponse) throws(SessionError) -> any ContentSink {
        try content.finalSink(for: head, chain, &resumption, cause: lostSentence, transfer, engine)
    }

    private func redirectDecision(
        _ head: SessionResponse, _ proposed: SessionRequest, _ rules: RedirectRules
    ) -> AsyncStep {
        let (task, request, delegate) = (task, chain.request, task.plan.delegate)
        let handler = task.plan.options.redirectHandler
        return AsyncStep { () async -> SessionRequest? in
            if let handler { return await handler.redirect(to: proposed, from: request, response: head) }
            return await delegate?.task(task, willRedirectTo: proposed, from: request, response: head)
        } then: { steps, answer in
            guard let answer else {
                if delegate != nil { return .ask(steps.contentDecision(head)) }
                return steps.open { steps throws(SessionError) in try steps.finalSink(for: head) }
            }
            return steps.open { steps throws(SessionError) in
                steps.chain.next = try rules.admitted(answer, proposed: proposed, sent: request)
                return ContentRouter.discarding
            }
        }
    }

    private func contentDecision(_ head: SessionResponse) -> AsyncStep {
        let (task, delegate) = (task, task.plan.delegate)
        return AsyncStep {
            await delegate?.task(task, didReceive: head) ?? .allow
        } then: { steps, answer in
            steps.open { steps throws(SessionError) in
                switch answer {
                case .allow: break
                case .cancel: throw task.cancelledError
                case .becomeDownload: steps.content.becomeDownload(task)
                }
                return try steps.finalSink(for: head)
            }
        }
    }

    /// Lets the content go to a sink, or ends the task.
    private func open(_ sink: (RequestSteps) throws(SessionError) -> any ContentSink) -> NextStep {
        do throws(SessionError) {
            try content.open(try sink(self))
            return .passContent
        } catch {
            return .end(error)
        }
    }

    /// What is known of the exchange that has ended.
    func end(_ error: SessionError?, _ reconnection: inout Reconnection) -> ExchangeEnd {
        let response = transfer?.response
        var end = ExchangeEnd(failure: error?.code)
        if let cache { end.validation = cache.validation(after: error?.code, hasResponse: response != nil) }
        end.isMisdirected = chain.isMisdirected
        end.hasRedirect = chain.hasNext
        if let error {
            end.isTunnelChallenge =
                transfer?.tunnelRefusal.map { chain.isTunnelChallenge($0, engine) } ?? false
            end.mayReconnect = reconnection.mayTryAgain(
                after: error.code, transfer, pathChange: engine.pathChange, at: Reactor.now)
            end.isServerUndecided = error.undecidedPeer != nil
        } else if let response {
            end.isChallenge = chain.isChallenge(response, engine)
        }
        return end
    }

    // MARK: Failures

    func outcome(_ error: SessionError) -> TaskOutcome {
        TaskOutcome(response: transfer?.response, data: content.data, error: error)
    }

    /// The failure of an exchange that was interrupted and must not be sent again.
    func interruptionError(_ verdict: InterruptionVerdict) -> SessionError {
        let sentence = lostSentence ?? "the network has gone"
        guard verdict == .cutOff else {
            return .outcomeUnknown(sentence).with(failingURL: chain.request.url)
        }
        return .cutOff(sentence).with(failingURL: chain.request.url, response: transfer?.response)
    }

    /// What is known of a try that has failed.
    ///
    /// - Parameters:
    ///   - canWait: the network must not be used now, and the task does not wait for it yet.
    ///   - isForClock: the clock explains the failure.
    func failedTry(
        _ error: SessionError, againFrom step: RequestStateMachine.Step, canWait: Bool, isForClock: Bool
    ) -> FailedTry {
        var failure = FailedTry()
        failure.isBlocked = canWait
        failure.isForClock = isForClock
        if isForClock {
            // The handshake failed: the server has got nothing, though a proxy may have been asked for a
            // tunnel.
            var progress = progress()
            progress.interruption.hasBegun = false
            failure.stepWhenReachable = progress.nextStep
        } else if canWait,
            InterruptionRules.canRepeatAfterFailure(
                code: error.code, isIdempotent: chain.isIdempotent,
                isBodyRewindable: chain.request.body?.isRewindable != false)
        {
            failure.stepWhenReachable = transfer == nil ? step : progress().nextStep
        }
        if failure.stepWhenReachable == nil, task.plan.interceptor != nil, error.code != .cancelled {
            failure.asksRetriers =
                task.plan.stream.map { resumption.serves($0, transfer, content, chain) } ?? true
        }
        return failure
    }

    /// Asks the interceptor for another try.
    ///
    /// - Parameter otherwise: what happens where it wants none; the failure where it is nil.
    func askRetriers(
        after error: SessionError, otherwise: ((RequestSteps) -> NextStep)? = nil
    ) -> NextStep {
        let outcome = outcome(error)
        guard let interceptor = task.plan.interceptor else { return otherwise?(self) ?? .complete(outcome) }
        let record = resumption.recordForNextTry(after: error.code, transfer, content, chain)
        return .ask(
            AsyncStep(retries.decision(interceptor, chain, transfer?.response, after: error)) {
                steps, decision in
                switch decision {
                case .retry: steps.tryAgain(after: error, nil, record)
                case .retryAfter(let delay): steps.tryAgain(after: error, delay, record)
                case .doNotRetry: otherwise?(steps) ?? .complete(outcome)
                case .doNotRetryWithError(let other): .end(steps.chain.sessionError(other))
                }
            })
    }

    private func tryAgain(after error: SessionError, _ delay: Duration?, _ record: ResumeRecord?) -> NextStep
    {
        task.publish(.retrying(count: retries.count, after: error, delay: delay))
        if let obstacle = retries.obstacle(chain) { return .end(obstacle) }
        beginAgain(with: record)
        return .tryAgain(after: delay)
    }

    // MARK: The final response

    /// Does with a complete response what is left to do.
    func finish(_ response: SessionResponse, after stage: FinalResponse.Stage?) -> NextStep {
        var final = FinalResponse()
        final.isCached = cache != nil
        final.isSerialized = RetryFlow.serializes(task, isDownload: content.isDownload)
        var (rest, refusal): (ResumeEnd, SessionError?) = (.complete, nil)
        if stage == nil {
            rest = resumption.end(of: response, transfer, content, chain)
            final.rest = rest.meaning
            // A reader of a stream has the refusal already.
            if task.plan.interceptor != nil, task.plan.stream == nil {
                refusal = task.plan.validation?(response)
            }
            final.isRefusal = refusal != nil
        }
        switch final.action(after: stage) {
        case .askForRest:
            guard case .missing(let longer) = rest else { return .nothing }
            forgetTransfer()
            return resume(resumption.continuation(with: longer, content, chain))
        case .failForRest:
            guard case .failure(let error) = rest else { return .nothing }
            resumption.failed(at: content.file?.count ?? 0)
            return .fail(error)
        case .askRetriers:
            guard let refusal else { return .nothing }
            return askRetriers(after: refusal.with(response: response)) { _ in
                .finish(response, after: .serialization)
            }
        case .serialize: return serialize(response)
        case .store: return store(response)
        default: return settle(response)
        }
    }

    private func serialize(_ response: SessionResponse) -> NextStep {
        .ask(
            AsyncStep(RetryFlow.serialization(response, content.data ?? Data(), task)) { steps, serialized in
                steps.serialized = serialized
                let error = serialized?.value.error
                steps.task.publish(.serialized(error))
                guard let error else { return .finish(response, after: .serialization) }
                steps.isStoredUnreadable = steps.cache?.isServed == true
                return steps.askRetriers(after: error) { _ in .finish(response, after: .serialization) }
            })
    }

    private func store(_ response: SessionResponse) -> NextStep {
        // libcurl's own authentication does not show in the request, and the response could be handed to
        // another user.
        let isAllowed = content.refusal == nil && authentication?.libraryCredentials == nil
        guard let storing = cache?.store(response, content.stored, chain, isAllowed: isAllowed) else {
            return settle(response)
        }
        return .ask(AsyncStep(storing) { steps, _ in steps.settle(response) })
    }

    /// Completes the task.
    func settle(_ response: SessionResponse?) -> NextStep {
        if content.file != nil, let response { return finishDownload(response) }
        let data = content.data
        if content.isDownload, let refusal = content.refusal {
            let error = refusal.with(failingURL: chain.request.url, response: response, data: data)
            return .complete(TaskOutcome(response: response, data: data, error: error))
        }
        if let response, chain.isChallenge(response, engine) { content.handToReader(response, task) }
        return .complete(
            TaskOutcome(response: response, data: data ?? Data(), serialized: serialized, metrics: metrics))
    }

    /// Moves a complete download to where it belongs.
    func finishDownload(_ response: SessionResponse) -> NextStep {
        guard let file = content.file else { return .nothing }
        let completion = DownloadCompletion(
            task: task, response: response, path: file.path, descriptor: file.release(),
            resumeFile: resumption.checkpoints?.file)
        return .ask(
            AsyncStep {
                await completion.run()
            } then: { steps, result in
                switch result {
                case .success(let path):
                    file.keep()
                    return .complete(TaskOutcome(response: response, filePath: path))
                case .failure(let error):
                    let error = error.with(failingURL: steps.chain.request.url)
                    return .complete(TaskOutcome(response: response, error: error))
                }
            })
    }
}

extension ResumeEnd {
    fileprivate var meaning: FinalResponse.Rest {
        switch self {
        case .complete: .complete
        case .missing: .missing
        case .failure: .invalid
        }
    }
}
