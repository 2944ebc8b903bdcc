// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SessionCore

// Adapters before each try, retriers after each failure.
extension TaskRunner {
    /// Begins a try: with the request as the adapters want it.
    func adapt() {
        guard let interceptor = task.plan.interceptor else { return begin() }
        let (original, state) = (task.originalRequest, state(nil, sent: nil))
        ask { () async -> Result<SessionRequest, any Error> in
            do { return .success(try await interceptor.adapt(original, state: state)) } catch {
                return .failure(error)
            }
        } then: { runner, result in
            switch result {
            case .success(let request):
                runner.task.tell(.adapted(request))
                runner.request = request
                runner.begin()
            case .failure(let error):
                let error = runner.sessionError(error)
                runner.task.tell(.adaptationFailed(error))
                runner.fail(error)
            }
        }
    }

    private func begin() {
        preferPlainContent()
        if hasRecord, let record = record ?? task.plan.record {
            resume(record, base: request)
        } else if task.plan.record == nil, let record = resumeFileRecord {
            resume(record, base: request)
        } else if beginsAnew, let record = task.plan.record {
            request = rules(record, base: request).whole
            exchange()
        } else {
            exchangeOrUseCache()
        }
    }

    /// Ends the try with a failure: once more, or the end of the task.
    func fail(_ error: SessionError, data: Data? = nil) {
        let response = transfer?.response
        if table.holds(self, error) { return }
        let outcome = TaskOutcome(response: response, data: data, error: error)
        guard let interceptor = task.plan.interceptor, error.code != .cancelled, canRead() else {
            return complete(outcome)
        }
        consult(interceptor, error) { $0.complete(outcome) }
    }

    /// Whether another try can serve the reader of a stream: who has had a part of the content gets the rest of it, or nothing.
    private func canRead() -> Bool {
        guard let stream = task.plan.stream, stream.total > 0 else { return true }
        let known = transfer.map { currentRecord($0) } ?? record
        guard let known, known.receivedBytes == stream.total else { return false }
        record = known
        if case .restart = rules(known, base: request).plan { return false }
        return true
    }

    /// Asks the retriers; `otherwise` is what happens where none wants another try.
    private func consult(
        _ interceptor: any RequestInterceptor, _ error: SessionError,
        otherwise: @escaping (TaskRunner) -> Void
    ) {
        // Of that, since another try sends that: behind a POST there may be the GET of a redirect.
        let request = askedFor
        let state = state(transfer?.response, sent: isRedirected ? self.request : nil)
        let known = recordForNextTry(error)
        ask {
            await interceptor.retry(request, state: state, after: error)
        } then: { runner, decision in
            switch decision {
            case .retry:
                runner.task.tell(.retrying(count: runner.retries, after: error, delay: nil))
                runner.tryAgain(known)
            case .retryAfter(let delay):
                runner.task.tell(.retrying(count: runner.retries, after: error, delay: delay))
                runner.later(delay) { $0.tryAgain(known) }
            case .doNotRetry: otherwise(runner)
            case .doNotRetryWithError(let other): runner.end(runner.sessionError(other))
            }
        }
    }

    /// A complete response whose status is not acceptable: whether that is tried again.
    ///
    /// - Returns: false where nobody has to be asked.
    func retries(_ response: SessionResponse, otherwise: @escaping (TaskRunner) -> Void) -> Bool {
        // Whoever reads a stream has the refusal already.
        guard task.plan.stream == nil, let interceptor = task.plan.interceptor,
            let refusal = task.plan.validation?(response)
        else { return false }
        consult(interceptor, refusal.with(response: response), otherwise: otherwise)
        return true
    }

    /// The content of an acceptable response, where there is an interceptor and something is to be made of it: if that cannot be done,
    /// the retriers are asked.
    ///
    /// - Returns: false where it is for whoever waits for the end.
    func serializes(
        _ response: SessionResponse, then: @escaping (TaskRunner, Boxed<SerializedContent>) -> Void
    ) -> Bool {
        guard let interceptor = task.plan.interceptor, !isDownload else { return false }
        let serialization = task.plan.serialization
        guard let completion = task.plan.completion, serialization != nil || task.block != nil else {
            return false
        }
        let data = memory?.data ?? Data()
        ask {
            Boxed(serialization?(data, response) ?? completion.content(data, of: response))
        } then: { runner, serialized in
            let error = serialized.value.error
            runner.task.tell(.serialized(error))
            guard let error else { return then(runner, serialized) }
            runner.wantsAnother = runner.caching?.isServed == true
            runner.consult(interceptor, error) { then($0, serialized) }
        }
        return true
    }

    /// What the next try of a download goes on with; nil where it begins anew: after a failure that says that what came is no good, and
    /// where nothing would tell whether the rest belongs to it.
    private func recordForNextTry(_ error: SessionError) -> ResumeRecord? {
        guard isDownload, task.plan.stream == nil, let transfer else { return nil }
        switch error.code {
        case .networkConnectionLost, .timedOut, .cannotConnectToHost, .cannotFindHost,
            .notConnectedToInternet:
            break
        case .badServerResponse where ![nil, 200, 206].contains(transfer.response?.statusCode): break
        default: return nil
        }
        guard let known = file == nil ? record : currentRecord(transfer),
            case .resume = rules(known, base: request).plan
        else { return nil }
        return known
    }

    private func tryAgain(_ known: ResumeRecord?) {
        // Both: the delegate may have given another body for the one that was read.
        guard askedFor.body?.isRewindable != false, task.originalRequest.body?.isRewindable != false else {
            return end(
                SessionError(
                    .requestBodyStreamExhausted,
                    "the request is to be tried again, and its body cannot be read again",
                    advice: "send the body as data, as a file or as a source that can be rewound",
                    failingURL: request.url))
        }
        retries += 1
        if let known {
            continued = file ?? continued
            record = known
        } else {
            // A later process goes on with what a resume file tells of.
            if checkpoints == nil { (file ?? continued)?.discard() } else { (file ?? continued)?.keep() }
            continued = nil
            // A file that is begun anew takes nothing over; a reader has what has come.
            if task.plan.stream == nil {
                record = nil
                offset = 0
            }
        }
        file = nil
        forgetRedirects()
        authentication = nil
        serverTrust = nil
        transfer = nil
        unsent = nil
        adapt()
    }

    private func state(_ response: SessionResponse?, sent: SessionRequest?) -> RequestState {
        RequestState(
            identifier: task.identifier, retryCount: retries, response: response, redirectedRequest: sent,
            date: Date(), instant: ContinuousClock.now)
    }

    func sessionError(_ error: any Error) -> SessionError {
        (error as? SessionError)
            ?? SessionError(.unknown, "\(error)", failingURL: request.url, underlying: error)
    }
}
