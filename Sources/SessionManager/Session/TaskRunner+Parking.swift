// SPDX-License-Identifier: Apache-2.0

import CCurl
import EventLoop
import HTTPTypes
import SessionCore

/// What a task does first when it goes on.
indirect enum TaskContinuation {
    /// The current request leaves, for the first time or again.
    case exchange
    /// The request that the server has asked for leaves.
    case follow(SessionRequest)
    /// A request leaves again whose body was read and cannot be read twice.
    case newBody
    /// The bytes that are missing are asked for.
    case range(ResumeRecord)
}

// A task whose path has gone, or which may not use the path there is: nothing of it runs, and it is not over.
extension TaskRunner {
    /// Ends the exchange under way without a result; handle and place among the transfers of the host are given back, and no limit of
    /// time runs.
    ///
    /// The task is over afterwards where its request must not be sent twice and may have been carried out.
    func park() {
        guard !isParked, !isOver else { return }
        isParked = true
        task.tell(.parked(lostSentence ?? ""))
        stopLimit()
        endReconnect()
        guard let transfer, engine.isUnderWay(transfer) else { return }
        let interruption = interruption(of: transfer)
        let head = transfer.response
        forgetQuestion()
        abandon(transfer)
        let sentence = lostSentence ?? "the network has gone"
        switch goOnLater(transfer, interruption) {
        case .restart, .continueByRange: break
        case .outcomeUnknown: fail(.outcomeUnknown(sentence).with(failingURL: request.url))
        case .cutOff:
            let error = SessionError.cutOff(sentence).with(failingURL: request.url, response: head)
            fail(error, data: memory?.data)
        }
    }

    /// Prepares to go on after an exchange that has failed, if the rules allow that.
    func canGoOnLater(_ transfer: Transfer) -> Bool {
        switch goOnLater(transfer, interruption(of: transfer)) {
        case .restart, .continueByRange: true
        case .outcomeUnknown, .cutOff: false
        }
    }

    /// Decides what becomes of an exchange that has ended early, and prepares what comes next where there is something.
    private func goOnLater(_ former: Transfer, _ interruption: Interruption) -> InterruptionVerdict {
        let verdict = InterruptionRules.verdict(interruption)
        switch verdict {
        case .outcomeUnknown, .cutOff: break
        case .restart: restart(former)
        case .continueByRange:
            guard let record = currentRecord(former) else {
                restart(former)
                break
            }
            continuation = .range(record)
            self.record = record
            continued = file
            transfer = nil
        }
        return verdict
    }

    /// Goes on after ``park()``.
    func goOn(over binding: PathBinding) {
        guard isParked, !isOver else { return }
        isParked = false
        task.tell(.wentOn)
        nextBinding = binding
        startLimit()
        proceed()
    }

    /// Does what comes next, unless something is under way or holds it.
    func proceed() {
        guard !isSuspended, !isParked, !isOver, transfer == nil, isAtRest else { return }
        let continuation = self.continuation
        self.continuation = .exchange
        switch continuation {
        case .exchange: exchange()
        case .follow(let next): follow(next)
        case .newBody: askForBody(of: request)
        case .range(let record):
            // From where it was asked for: what a redirect has led to may be another place by now, or no place any more.
            if recordsBeforeRedirects { forgetRedirects() }
            resume(record, base: request)
        }
    }

    /// Whether it may go on after a failure that the network's loss explains.
    func canGoOn(after failure: SessionError) -> Bool {
        guard request.body?.isRewindable != false else { return false }
        switch failure.code {
        // The server has got nothing.
        case .notConnectedToInternet, .cannotFindHost, .cannotConnectToHost: return true
        case .networkConnectionLost: return isIdempotent
        default: return false
        }
    }

    /// Prepares to send the current request once more, and what the server has asked for instead of it.
    private func restart(_ former: Transfer) {
        if let next {
            continuation = .follow(next)
        } else if case .stream(let source)? = request.body, !source.isRewindable, former.body.sent > 0 {
            continuation = .newBody
        } else {
            continuation = .exchange
            if former.body.sent == 0 { unsent = former }
        }
        // Where missing bytes were asked for, they are asked for again; else what has come is of no use, and the same file gets it anew.
        if !asksForRest { record = nil }
        continued = file ?? continued
        transfer = nil
        forgetExchange()
    }

    /// The exchange waits for a place among the transfers of its host, or does not any more: that is no time of the task's.
    func setInLine(_ isInLine: Bool) {
        guard self.isInLine != isInLine else { return }
        self.isInLine = isInLine
        if isInLine { stopLimit() } else { startLimit() }
        table.noteLine(task, isInLine)
    }

    // MARK: How far it was

    private func interruption(of transfer: Transfer) -> Interruption {
        var facts = Interruption(isIdempotent: isIdempotent)
        let headBytes = transfer.easy?.long(CURLINFO_REQUEST_SIZE) ?? 0
        facts.hasBegun = headBytes > 0 || transfer.body.sent > 0
        facts.isWhollySent = transfer.body.isSent
        facts.hasHead = transfer.response != nil
        facts.isPreliminary =
            next != nil || misdirection.isPending
            || transfer.response.map { answersChallenge(of: $0) } == true
        if let file {
            facts.content = .file(bytes: file.count)
        } else if task.plan.stream != nil {
            facts.content = .reader(bytes: offset + transfer.received)
        }
        if let record = currentRecord(transfer) {
            switch rules(record, base: request).plan {
            case .resume, .complete: facts.canContinue = true
            case .restart: break
            }
        }
        return facts
    }

    /// Whether the request may be carried out twice.
    private var isIdempotent: Bool {
        task.plan.options.queueing?.values.isIdempotent ?? request.method.isIdempotent
    }

    /// Whether the current request is for the bytes that an interrupted exchange left missing.
    var asksForRest: Bool { record != nil && request.headerFields[.range] != nil }

    /// What can be gone on with.
    func currentRecord(_ transfer: Transfer) -> ResumeRecord? {
        if let file { return record(of: file, transfer.response) }
        guard task.plan.stream != nil else { return nil }
        let count = offset + transfer.received
        if let record { return try? record.with(receivedBytes: count) }
        guard count > 0, let head = transfer.response,
            ResumeRules.canRecord(request, response: head, isChecked: isChecked)
        else {
            return nil
        }
        return try? ResumeRecord(
            request: recordedRequest, response: head, receivedBytes: count, totalBytes: expected,
            partialFile: "-")
    }

    // MARK: Paths that die

    func transferLostPath(_ transfer: Transfer, _ sentence: String) {
        guard transfer === self.transfer else { return }
        lostSentence = sentence
        beginReconnecting()
        table.lostPath(self, sentence)
    }

    /// How long a new connection that cannot be made is not the end: addresses, routes and name servers of another path come one after
    /// the other.
    private static let patience: Int64 = 2_000_000_000

    private func beginReconnecting() {
        reconnectDeadline = Reactor.now &+ Self.patience
        reconnectDelay = 20_000_000
    }

    func transferMayRepeat(_ transfer: Transfer) -> Bool { isIdempotent }

    func transferMayMove(_ transfer: Transfer) -> Bool {
        switch InterruptionRules.verdict(interruption(of: transfer)) {
        case .restart, .continueByRange: true
        case .outcomeUnknown, .cutOff: false
        }
    }

    /// Tries again in a moment to connect over a path that has taken the place of a dead one, or has come back; false where that is not
    /// the matter.
    func reconnects(after error: SessionError, _ transfer: Transfer?) -> Bool {
        guard transfer?.response == nil, transfer?.body.sent ?? 0 == 0 else { return false }
        switch error.code {
        case .cannotConnectToHost, .cannotFindHost, .notConnectedToInternet: break
        default: return false
        }
        if reconnectDeadline == 0, failedForChange(error, transfer) { beginReconnecting() }
        guard Reactor.now < reconnectDeadline else { return false }
        unsent = transfer
        self.transfer = nil
        reconnect = engine.reactor.schedule(at: Reactor.now &+ reconnectDelay) { [unowned self] in
            reconnect = nil
            proceed()
        }
        reconnectDelay = min(2 * reconnectDelay, 320_000_000)
        return true
    }

    /// Whether a connection that was begun near a change of the paths failed for that: the kernel had no route for an instant, or the
    /// router's answer was not there yet (arp(7)).
    ///
    /// A server that refuses is there.
    private func failedForChange(_ error: SessionError, _ transfer: Transfer?) -> Bool {
        guard error.code != .cannotConnectToHost, let transfer, let change = engine.pathChange else {
            return false
        }
        return transfer.lastActivity < change &+ Self.patience
    }

    func endReconnect() {
        if let reconnect { _ = engine.reactor.cancel(reconnect) }
        reconnect = nil
    }
}

extension HTTPRequest.Method {
    /// Whether it may be carried out several times with the effect of one (RFC 9110 §9.2.2).
    var isIdempotent: Bool {
        switch self {
        case .get, .head, .put, .delete, .options, .trace: true
        default: false
        }
    }
}
