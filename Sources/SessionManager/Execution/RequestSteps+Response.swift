// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import SessionCore

// The end of an exchange, failures, and what becomes of the final response.
extension RequestSteps {
    /// How far the exchange under way is.
    func progress() -> ExchangeProgress {
        guard let transfer else { return ExchangeProgress(Interruption(isIdempotent: true)) }
        if isTakenOver {
            var open = Interruption(isIdempotent: false)
            open.hasHead = true
            return ExchangeProgress(open)
        }
        let isChallenge = transfer.response.map { chain.isChallenge($0, engine) } ?? false
        return resumption.progress(transfer, content, chain, isChallenge: isChallenge)
    }

    /// More content has come.
    func received(_ transfer: Transfer) {
        guard !chain.hasNext, !chain.isMisdirected else { return }
        if let file = content.file { resumption.checkpoints?.recordProgress(of: file) }
        let offset = resumption.offset
        task.updateBytes(.received, offset + transfer.content.count, of: content.expected.map { $0 + offset })
    }

    /// The task has taken longer than it may.
    func timeLimitError() -> SessionError {
        SessionError(
            .timedOut, "the task was not done after \(chain.options.timeouts.total ?? .zero)",
            remedy: .longerTask, failingURL: chain.request.url, response: transfer?.response)
    }

    /// What is known of the exchange that has ended.
    func describeEnd(_ error: SessionError?, _ reconnection: inout Reconnection) -> ExchangeEnd {
        let response = transfer?.response
        var end = ExchangeEnd(failure: error?.code)
        if let cache { end.validation = cache.validation(after: error?.code, hasResponse: response != nil) }
        end.isMisdirected = chain.isMisdirected
        end.hasRedirect = chain.hasNext
        let mayAuthenticate = transfer?.hasSpentRounds != true
        if let error {
            end.isTunnelChallenge =
                transfer?.heads.tunnelRefusal.map { mayAuthenticate && chain.isTunnelChallenge($0, engine) }
                ?? false
            if response == nil, transfer?.body.sent ?? 0 == 0 {
                end.mayReconnect = reconnection.mayTryAgain(
                    after: error.code, lastActivity: transfer?.lastActivity, pathChange: engine.pathChange,
                    at: Reactor.now)
            }
            end.isServerUndecided = error.undecidedPeer != nil
        }
        if let response, mayAuthenticate, error.map({ isAboutContent($0, of: response) }) ?? true {
            end.isChallenge = chain.isChallenge(response, engine)
        }
        return end
    }

    /// Whether an error spoils the content of a response alone: not where its head cannot be trusted, and not
    /// where libcurl may have answered the response itself, and has failed with that.
    private func isAboutContent(_ error: SessionError, of response: SessionResponse) -> Bool {
        error.code != .badServerResponse && transfer?.isAnswered(response) == false
    }

    /// Does what the end of an exchange asks for; the error is that of the exchange.
    func follow(_ next: ExchangeEnd.FollowUp, _ error: SessionError?) -> NextStep {
        switch (next, error) {
        case (.useResponse, _): transfer?.response.map { useResponse($0) } ?? finish(with: nil)
        case (.followRedirect, _): followRedirect()
        case (.answerChallenge, _):
            transfer?.response.map { authenticate(.response($0, error)) } ?? .nothing
        case (.useStoredResponse, _):
            cache?.storedToUse(chain.request, isSecret: isSecret).map { deliver($0.0, $0.1) } ?? .nothing
        case (.reload, _):
            cache.map { .send($0.reload(chain.request)) } ?? .exchange
        case (.sendElsewhere, _): sendElsewhere()
        case (.answerTunnel, let error?):
            transfer?.heads.tunnelRefusal.map { authenticate(.tunnel($0, error)) } ?? .failTry(error)
        case (.askAboutServer, let error?): askAboutServer(error)
        case (.failTry, let error?): .failTry(error)
        case (.answerTunnel, nil), (.askAboutServer, nil), (.failTry, nil): .nothing
        }
    }

    /// The same request over a connection of its own (421).
    private func sendElsewhere() -> NextStep {
        chain.leaveMisdirected()
        return send(chain.request)
    }

    // MARK: Failures

    func outcome(_ error: SessionError) -> TaskOutcome {
        TaskOutcome(response: transfer?.response, data: content.data, error: error)
    }

    /// The failure of an exchange that was interrupted and must not be sent again.
    func interruptionError(_ verdict: InterruptionVerdict) -> SessionError {
        let sentence = lostSentence ?? "the network has gone"
        if isTakenOver {
            return SessionError(
                .networkConnectionLost, "the connection was lost: \(sentence)",
                failingURL: chain.request.url, response: transfer?.response)
        }
        guard verdict == .cutOff else {
            return .outcomeUnknown(sentence).with(failingURL: chain.request.url)
        }
        return .cutOff(sentence, isIdempotent: chain.isIdempotent)
            .with(failingURL: chain.request.url, response: transfer?.response)
    }

    /// What is known of a try that has failed.
    ///
    /// - Parameters:
    ///   - isBlocked: the network must not be used now, and the task does not wait for it yet.
    ///   - isForClock: the clock explains the failure.
    func describeFailure(
        _ error: SessionError, againFrom step: RequestStateMachine.Step, isBlocked: Bool, isForClock: Bool
    ) -> FailedTry {
        var failure = FailedTry(
            after: error.code, isBlocked: isBlocked, isForClock: isForClock,
            isBodyRewindable: chain.request.body?.isRewindable != false, isIdempotent: chain.isIdempotent,
            step, transfer == nil ? nil : progress())
        let mayFollow = task.plan.interceptor != nil || chain.mirrors != nil
        if failure.stepWhenReachable == nil, mayFollow, error.code != .cancelled {
            failure.asksRetriers = canTryAgain()
        }
        return failure
    }

    /// Turns to another URL of the content, or asks the interceptor for another try.
    ///
    /// - Parameter response: what is used where it wants none; nil for the failure.
    func askRetriers(after error: SessionError, orUse response: SessionResponse? = nil) -> NextStep {
        var record = resumption.recordForNextTry(after: error.code, transfer, content, chain)
        switch failedAtMirror(error) {
        case .ask(_, let keepsPart): return turnToMirror(after: error, keepsPart: keepsPart)
        case .exhausted(let keepsPart): record = keepsPart ? resumption.part(transfer, content, chain) : nil
        case nil: break
        }
        let outcome = outcome(error)
        guard let interceptor = task.plan.interceptor, chain.mirrors?.isSpent != true else {
            return response.map { useResponse($0, after: .serialization) } ?? .finish(outcome)
        }
        return .ask(
            AsyncStep(interception.decision(interceptor, chain, transfer?.response, after: error)) {
                steps, decision in
                switch decision {
                case .retry: steps.tryAgain(after: error, nil, record)
                case .retryAfter(let delay): steps.tryAgain(after: error, delay, record)
                case .doNotRetry:
                    response.map { steps.useResponse($0, after: .serialization) } ?? .finish(outcome)
                case .doNotRetryWithError(let other): .finishFailed(steps.chain.sessionError(other))
                }
            })
    }

    private func tryAgain(after error: SessionError, _ delay: Duration?, _ record: ResumeRecord?) -> NextStep
    {
        task.publish(.retrying(count: interception.count, after: error, delay: delay))
        if let obstacle = interception.obstacle(chain) { return .finishFailed(obstacle) }
        beginRetry(with: record)
        return delay.map { .backOff($0) } ?? prepare(.attempt)
    }

    // MARK: The final response

    /// Does with a complete response what is left to do.
    func useResponse(_ response: SessionResponse, after stage: FinalResponse.Stage? = nil) -> NextStep {
        var final = FinalResponse()
        final.isCached = cache != nil
        final.isSerialized = InterceptorFlow.serializes(task, isDownload: content.isDownload)
        var (rest, refusal): (ResumeEnd, SessionError?) = (.complete, nil)
        if stage == nil {
            rest = resumption.describeEnd(of: response, transfer, content, chain)
            final.rest = rest.meaning
            // A reader of a stream has the refusal already.
            if task.plan.interceptor != nil || chain.mirrors != nil, task.plan.stream == nil {
                refusal = task.plan.validation?(response)
            }
            final.isRefusal = refusal != nil
        }
        switch final.action(after: stage) {
        case .askForRest:
            guard case .missing(let longer) = rest else { return .nothing }
            return askForRest(longer)
        case .failForRest:
            guard case .failure(let error) = rest else { return .nothing }
            failRest()
            return .failTry(error)
        case .askRetriers:
            guard let refusal else { return .nothing }
            return askRetriers(after: refusal.with(response: response), orUse: response)
        case .serialize: return serialize(response)
        case .store: return store(response)
        case .finish: return finish(with: response)
        }
    }

    private func serialize(_ response: SessionResponse) -> NextStep {
        .ask(
            AsyncStep(InterceptorFlow.serialization(response, content.data ?? Data(), task)) {
                steps, content in
                let error = steps.serialized(content)
                steps.task.publish(.serialized(error))
                guard let error else { return steps.useResponse(response, after: .serialization) }
                return steps.askRetriers(after: error, orUse: response)
            })
    }

    private func store(_ response: SessionResponse) -> NextStep {
        let isAllowed = content.refusal == nil && !isSecret
        guard let storing = cache?.store(response, content.stored, chain, isAllowed: isAllowed) else {
            return finish(with: response)
        }
        return .ask(AsyncStep(storing) { steps, _ in steps.finish(with: response) })
    }

    /// Finishes the task, after a download has been moved to where it belongs.
    private func finish(with response: SessionResponse?) -> NextStep {
        if content.file != nil, let response { return finishDownload(response) }
        let data = content.data
        if content.isDownload, let refusal = content.refusal {
            let error = refusal.with(failingURL: chain.request.url, response: response, data: data)
            return .finish(TaskOutcome(response: response, data: data, error: error))
        }
        if let response, chain.isChallenge(response, engine) { content.handToReader(response, task) }
        return .finish(
            TaskOutcome(
                response: response, data: data ?? Data(), serialized: interception.serialized,
                metrics: metrics))
    }

    /// Moves a complete download to where it belongs.
    func finishDownload(_ response: SessionResponse) -> NextStep {
        guard let file = content.file else { return .nothing }
        // No byte comes that would report it.
        if file.count == 0 { task.updateBytes(.received, 0, of: 0) }
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
                    return .finish(TaskOutcome(response: response, filePath: path))
                case .failure(let error):
                    let error = error.with(failingURL: steps.chain.request.url)
                    return steps.downloadFailed(error, response)
                }
            })
    }

    /// A complete download cannot be put where it belongs, or has another checksum.
    private func downloadFailed(_ error: SessionError, _ response: SessionResponse) -> NextStep {
        guard error.code == .checksumMismatch, case .ask(_, let keepsPart)? = failedAtMirror(error) else {
            return .finish(TaskOutcome(response: response, error: error))
        }
        return turnToMirror(after: error, keepsPart: keepsPart)
    }

    // MARK: Mirrors

    /// What follows a failed try at one of several URLs; nil for a single one, which is to be asked for.
    private func failedAtMirror(_ error: SessionError) -> MirrorRules.Step? {
        guard let mirrors = chain.mirrors else { return nil }
        var bytes = MirrorRules.Bytes.none
        if let file = content.file, let transfer, file.count > resumption.offset {
            bytes = transfer.response?.statusCode == 206 ? .appended : .fromStart
        }
        return mirrors.failed(error, transfer?.response, bytes)
    }

    /// Asks for the content, or for the rest of it, at the URL that was chosen.
    private func turnToMirror(after error: SessionError, keepsPart: Bool) -> NextStep {
        guard let mirrors = chain.mirrors else { return .finish(outcome(error)) }
        let record = keepsPart ? resumption.part(transfer, content, chain) : nil
        if !keepsPart { throwAwayPart() }
        task.publish(.mirror(mirrors.url, after: error))
        beginAgain(with: record)
        return prepare(.attempt)
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
