// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import SessionCore

// What is decided when an exchange has ended.
extension TaskRunner {
    func conclude(_ end: TransferEnd) {
        let response = transfer?.response
        if let caching, concludeValidation(caching, end) { return }
        if misdirection.isPending {
            misdirection.leave()
            return send(request)
        }
        if let error = end.error {
            // A redirect whose content is too long to be read, or broken, is followed all the same, on another connection.
            if hasNext, error.code == .dataLengthExceedsMaximum || error.code == .cannotDecodeRawData {
                return goOn()
            }
            if let refusal = transfer?.tunnelRefusal, answersRefusal(refusal) {
                return authenticate(.tunnel(refusal, error))
            }
            if reconnects(after: error, transfer) { return }
            if let peer = error.undecidedPeer { return askAboutServer(peer, error) }
            return fail(error, data: memory?.data)
        }
        if hasNext { return goOn() }
        if let response, answersChallenge(of: response) { return authenticate(.response(response)) }
        finish(response)
    }

    /// Completes the task with the response of this exchange, unless it is tried again.
    func finish(_ response: SessionResponse?) {
        if let response, goesOnForRest(response) { return }
        if let response {
            if retries(response, otherwise: { $0.storeAndSettle(response) }) { return }
            if serializes(response, then: { $0.storeAndSettle(response, $1) }) { return }
        }
        storeAndSettle(response)
    }

    private func storeAndSettle(
        _ response: SessionResponse?, _ serialized: Boxed<SerializedContent>? = nil
    ) {
        if let caching, let response {
            store(response, caching, serialized)
        } else {
            settle(response, serialized)
        }
    }

    /// - Parameter serialized: what was made of the content already; nil where nothing was.
    func settle(_ response: SessionResponse?, _ serialized: Boxed<SerializedContent>?) {
        if let file, let response { return finishDownload(file, response) }
        if isDownload, let refusal = refusedBy {
            let data = memory?.data
            let error = refusal.with(failingURL: request.url, response: response, data: data)
            return complete(TaskOutcome(response: response, data: data, error: error))
        }
        if let response, answersChallenge(of: response) { handOver(response) }
        complete(
            TaskOutcome(
                response: response, data: memory?.data ?? Data(), serialized: serialized, metrics: metrics))
    }

    /// A challenge that nobody has answered is the response: who reads a stream gets the content that was kept.
    private func handOver(_ response: SessionResponse) {
        guard let stream = task.plan.stream, let data = memory?.data else { return }
        task.plan.head?.fulfil(.success(response))
        if !data.isEmpty { _ = data.withUnsafeBytes { stream.put($0) } }
    }

    /// Sends the request that follows.
    private func goOn() {
        guard let next else { return }
        follow(next)
    }

    func follow(_ next: SessionRequest) {
        task.tell(.redirected(to: next))
        authentication?.machine.letIn()
        noteRedirect(from: caching?.unconditional(request) ?? request, to: next)
        guard let caching, next.body == nil else { return send(next) }
        turn(to: caching.unconditional(next))
        exchangeOrUseCache()
    }

    private func turn(to next: SessionRequest) {
        if authentication?.forLibrary != nil, Origin(request.url) != Origin(next.url) {
            // libcurl would show the credentials of one origin to the next.
            authentication?.forLibrary = nil
        }
        request = next
    }

    /// Sends a request, with a new body where the former one cannot be sent again.
    func send(_ next: SessionRequest) {
        turn(to: next)
        guard case .stream(let source)? = next.body, !source.isRewindable, let former = transfer else {
            return exchange()
        }
        // Nothing of the body has been read: a handshake that was left undecided, for instance.
        if former.body.sent == 0 {
            unsent = former
            return exchange()
        }
        transfer = nil
        askForBody(of: next)
    }

    /// Has the delegate make a new body for a request whose own was read and cannot be read twice.
    func askForBody(of next: SessionRequest) {
        let task = task
        let delegate = task.plan.delegate
        ask {
            await delegate?.task(task, needsNewBodyFor: next)
        } then: { runner, body in
            guard let body else {
                return runner.end(
                    SessionError(
                        .requestBodyStreamExhausted,
                        "the server wants the request once more, and its body cannot be read again",
                        advice: "send the body as data, as a file or as a source that can be rewound",
                        failingURL: next.url))
            }
            var again = next
            again.body = body
            runner.request = again
            runner.unsent = nil
            runner.exchange()
        }
    }
}
