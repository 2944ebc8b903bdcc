// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager

/// One request and the test's answer to it: what libcurl and a server would do; on the loop's thread.
///
/// A Swift task asks the test and waits for the delays of the answer; each part of that crosses to the loop
/// and waits there until its transfer has taken it.
final class AnsweredExchange {
    /// A part of an answer, on its way to the transfer.
    enum Part: Sendable {
        case head(Data, cookies: [String])
        case content(Data)
        case lostPath(String)
        case end(SessionError?)
        /// Nothing more comes.
        case silence
    }

    let transfer: Transfer
    private unowned let carrier: AnsweredTransfers
    private let attempt: Int
    private let start = Reactor.now
    private(set) var metrics = TransferMetrics()
    private var body = Data()
    private var isAsked = false
    /// Whether the test's closure has been called: on a busy machine that may take a while.
    private var isAnswering = false
    private var asking: Task<Void, Never>?
    /// What the transfer has not taken yet.
    private var part: Part?
    /// Continued with true when the part was taken, with false when the exchange is over.
    private var continuation: CheckedContinuation<Bool, Never>?
    private var hasBegun = false
    private var hasLeft = false
    private var isAsleep = false
    private var lastActivity = Reactor.now
    private var silenceTimer: TimerID?
    private var firstByteTimer: TimerID?

    init(_ transfer: Transfer, by carrier: AnsweredTransfers, attempt: Int) {
        self.transfer = transfer
        self.carrier = carrier
        self.attempt = attempt
    }

    // MARK: What the carrier asks for

    func begin() {
        guard !hasLeft, !isAsleep, !hasBegun else { return }
        hasBegun = true
        do throws(SessionError) {
            try transfer.prepareBody()
        } catch {
            return carrier.end(self, error)
        }
        armSilence()
        var isSent = false
        carrier.turn.callLibcurl { isSent = transfer.willSend() }
        if isSent { proceed() } else { carrier.end(self, nil) }
    }

    /// Bytes may flow: the next of the body, or the part that was not taken.
    func proceed() {
        guard !hasLeft, !isAsleep else { return }
        lastActivity = Reactor.now
        if isAsked { handPart() } else { readBody() }
    }

    func suspend() {
        isAsleep = true
        cancelTimers()
    }

    /// Ends ``suspend()``.
    func resume() {
        guard isAsleep else { return }
        isAsleep = false
        guard hasBegun else { return begin() }
        lastActivity = Reactor.now
        armSilence()
        if isAsked { awaitFirstByte() }
        proceed()
    }

    /// The exchange is over.
    func leave() {
        hasLeft = true
        cancelTimers()
        asking?.cancel()
        part = nil
        continuation.take()?.resume(returning: false)
    }

    // MARK: The request

    private func readBody() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 1)
        defer { buffer.deallocate() }
        while !hasLeft, !isAsleep {
            var next = BodyPart.end
            carrier.turn.callLibcurl { next = transfer.nextBodyPart(into: buffer) }
            switch next {
            case .bytes(let count):
                body.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                metrics.bytesSent += Int64(count)
                lastActivity = Reactor.now
            case .end: return ask()
            case .notYet: return
            case .failed: return carrier.end(self, nil)
            }
        }
    }

    private func ask() {
        isAsked = true
        awaitFirstByte()
        let request = SentRequest(
            transfer, body: body, attempt: attempt, cookies: carrier.cookies(for: transfer))
        let me = LoopBound(self, to: carrier.reactor)
        asking = Task { [answering = carrier.answering] in
            me.perform { $0.isAnswering = true }
            await AnswerFeed(request) { part in await me.taken(part) }.run(answering)
        }
    }

    // MARK: The answer

    /// A part has come; the continuation continues when it was taken.
    fileprivate func received(_ new: Part, _ continuation: CheckedContinuation<Bool, Never>) {
        guard !hasLeft else { return continuation.resume(returning: false) }
        (part, self.continuation) = (new, continuation)
        proceed()
    }

    private func handPart() {
        guard let part else { return }
        var result = HandedBytes.consumed
        switch part {
        case .head(let head, let cookies):
            carrier.store(cookies, from: transfer)
            lastActivity = Reactor.now
            cancelFirstByte()
            metrics.firstByte = .nanoseconds(Reactor.now - start)
            metrics.headerBytesReceived += Int64(head.count)
            carrier.turn.callLibcurl { result = transfer.hand(head: head) }
        case .content(let content):
            carrier.turn.callLibcurl { result = transfer.hand(content: content) }
            if case .consumed = result { metrics.bytesReceived += Int64(content.count) }
        case .lostPath(let sentence):
            finishPart()
            return transfer.losePath(sentence)
        case .end(let error):
            finishPart()
            return end(error)
        case .silence: return
        }
        switch result {
        case .consumed: finishPart()
        case .held: break
        case .refused: end(nil)
        }
    }

    private func finishPart() {
        part = nil
        continuation.take()?.resume(returning: true)
    }

    private func end(_ error: SessionError?) {
        metrics.total = .nanoseconds(Reactor.now - start)
        carrier.end(self, error?.with(failingURL: error?.failingURL ?? transfer.request.url))
    }

    // MARK: Limits of time

    private func armSilence() {
        let limit = transfer.request.options.longestSilence.wholeNanoseconds
        silenceTimer = carrier.reactor.schedule(at: lastActivity &+ limit) { [weak self] in
            guard let self else { return }
            silenceTimer = nil
            // Waiting for the program is not silence of the server.
            if transfer.isWaiting || isAsked && !isAnswering { lastActivity = Reactor.now }
            if lastActivity &+ limit > Reactor.now { return armSilence() }
            end(transfer.silenceError)
        }
    }

    private func awaitFirstByte() {
        guard !transfer.hasHead, let limit = transfer.request.options.timeouts.firstByte else { return }
        firstByteTimer = carrier.reactor.schedule(at: Reactor.now &+ limit.wholeNanoseconds) { [weak self] in
            guard let self else { return }
            firstByteTimer = nil
            end(transfer.lateAnswerError(limit))
        }
    }

    private func cancelFirstByte() {
        if let timer = firstByteTimer.take() { _ = carrier.reactor.cancel(timer) }
    }

    private func cancelTimers() {
        cancelFirstByte()
        if let timer = silenceTimer.take() { _ = carrier.reactor.cancel(timer) }
    }
}

extension LoopBound<AnsweredExchange> {
    /// Hands a part over; returns when it was taken: false where nothing more is wanted.
    fileprivate func taken(_ part: AnsweredExchange.Part) async -> Bool {
        await withCheckedContinuation { continuation in perform { $0.received(part, continuation) } }
    }
}
