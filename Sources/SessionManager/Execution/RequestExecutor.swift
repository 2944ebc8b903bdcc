// SPDX-License-Identifier: Apache-2.0

import EventLoop
import SessionCore

/// Carries out what ``RequestStateMachine`` decides for one task: exchange after exchange, until there is an
/// outcome.
///
/// On the loop's thread. Delegates, handlers, files and caches are asked in Swift tasks, and their answers
/// come back as messages.
final class RequestExecutor {
    let task: SessionTask
    private let engine: TransferEngine
    private unowned let delegate: any RequestExecutorDelegate
    private var machine = RequestStateMachine()
    private let steps: RequestSteps
    private var reconnection = Reconnection()
    private var limit: TaskTimeLimit
    private var timer: TimerID?
    private var pendingAnswer: Task<Void, Never>?
    /// Whether it waits until the clock is set.
    private(set) var needsClock = false
    /// Whether it waits for the internet, since no uplink's line works.
    private(set) var needsInternet = false

    init(_ task: SessionTask, engine: TransferEngine, delegate: any RequestExecutorDelegate) {
        self.task = task
        self.engine = engine
        self.delegate = delegate
        steps = RequestSteps(task, engine)
        limit = TaskTimeLimit(steps.chain.options.timeouts.total, on: engine.reactor)
    }

    // MARK: The scheduler's side

    /// The request that is sent next, or is under way.
    var request: SessionRequest { _read { yield steps.chain.request } }
    var options: RequestOptions { _read { yield steps.chain.options } }
    var isParked: Bool { machine.isParked }
    var isFinished: Bool { machine.isFinished }
    /// Whether an exchange has begun, of which the next step may be under discussion.
    var hasExchange: Bool { steps.transfer != nil }
    /// Whether libcurl carries the exchange out.
    var isTransferring: Bool { steps.transfer?.easy != nil }
    /// Whether it may be asking a name server of the former network.
    var isLookingUp: Bool { steps.transfer?.isLookingUp == true }

    func start() {
        updateLimit()
        perform { $0.prepare(.attempt) }
    }

    /// Ends the task with an error, whatever it does now.
    func end(_ error: SessionError) {
        guard !machine.isFinished else { return }
        let outcome = steps.outcome(error)
        abandonTransfer()
        complete(outcome)
    }

    /// Stops the bytes, or lets them flow again.
    func setSuspended(_ isSuspended: Bool) {
        perform(isSuspended ? machine.suspended() : machine.resumed())
    }

    /// Ends the exchange under way without a result: it is continued, or begun again, after ``unpark()``.
    ///
    /// The task fails where its request must not be sent twice and may have been carried out.
    func park(_ sentence: String) {
        guard !machine.isParked, !machine.isFinished else { return }
        steps.lostSentence = sentence
        task.publish(.parked(sentence))
        perform(machine.parked(steps.progress()))
    }

    /// Ends ``park(_:)``.
    func unpark() {
        guard machine.isParked, !machine.isFinished else { return }
        needsClock = false
        needsInternet = false
        task.publish(.unparked)
        perform(machine.unparked())
    }

    /// The connection that is looked up, or has died, is given up for another path.
    func losePath(_ sentence: String) {
        reconnection.begin(at: Reactor.now)
        guard !machine.isFinished, !machine.isParked else { return }
        park(sentence)
        if machine.isParked, !machine.isFinished { delegate.executorLostPath(self) }
    }

    // MARK: Actions

    private func perform(_ action: RequestStateMachine.Action, _ error: SessionError? = nil) {
        updateLimit()
        switch action {
        case .nothing: break
        case .prepare(let step): perform { $0.prepare(step) }
        case .send: engine.start(steps.makeTransfer(delegate.binding(for: self), for: self))
        case .park: park(waitingAfter: nil)
        case .parkAfterFailure(let step):
            steps.leave(for: step)
            park(waitingAfter: error)
        case .pause, .unpause:
            if let transfer = steps.transfer { engine.setSuspended(transfer, action == .pause) }
        case .abandon(let step):
            abandonTransfer()
            steps.leave(for: step)
        case .abandonAndFail(let verdict):
            abandonTransfer()
            fail(steps.interruptionError(verdict), againFrom: .request)
        case .passContent: if let transfer = steps.transfer { engine.resume(transfer) }
        case .conclude: exchangeEnded(nil)
        case .cancelTimer: cancelTimer()
        case .reconnect:
            steps.leaveUnconnected()
            setTimer(reconnection.nextDelay())
        case .useStoredResponse: perform { $0.useStored() }
        case .reload: perform { $0.reload() }
        case .sendElsewhere: perform { $0.sendElsewhere() }
        case .followRedirect: perform { $0.followRedirect() }
        case .answerChallenge: perform { $0.answerChallenge() }
        case .finish: perform { .finish($0.transfer?.response) }
        case .answerTunnel: if let error { perform { $0.answerTunnel(error) } }
        case .askAboutServer: if let error { perform { $0.askAboutServer(error) } }
        case .fail: if let error { fail(error, againFrom: .request) }
        case .askRetriers: if let error { perform { $0.askRetriers(after: error) } }
        case .complete: if let error { complete(steps.outcome(error)) }
        }
    }

    /// Carries out what a step leads to.
    func perform(_ step: (RequestSteps) -> NextStep) {
        switch step(steps) {
        case .nothing: break
        case .exchange:
            steps.forgetTransfer()
            perform(machine.ready(isBlocked: delegate.networkBlock(of: self) != nil))
        case .ask(let step): step.begin(self)
        case .finish(let response?, let stage): perform { $0.finish(response, after: stage) }
        case .finish(nil, _): perform { $0.settle(nil) }
        case .fail(let error, let step): fail(error, againFrom: step)
        case .tryAgain(nil): perform { $0.prepare(.attempt) }
        case .tryAgain(let delay?):
            machine.backsOff()
            setTimer(delay.nanoseconds)
        case .passContent: perform(machine.decided())
        case .end(let error): end(error)
        case .complete(let outcome): complete(outcome)
        }
    }

    private func fail(_ error: SessionError, againFrom step: RequestStateMachine.Step) {
        let canWait = !machine.isParked && delegate.networkBlock(of: self) != nil
        let isForClock = !machine.isParked && delegate.executor(self, waitsForClockAfter: error)
        let failure = steps.failedTry(error, againFrom: step, canWait: canWait, isForClock: isForClock)
        needsClock = isForClock && failure.stepWhenReachable != nil
        perform(machine.failed(failure), error)
    }

    private func exchangeEnded(_ error: SessionError?) {
        perform(machine.ended(steps.end(error, &reconnection)), error)
    }

    private func park(waitingAfter failure: SessionError?) {
        steps.lostSentence = delegate.networkBlock(of: self) ?? steps.lostSentence
        task.publish(.parked(steps.lostSentence ?? ""))
        delegate.executorParked(self, failure)
    }

    /// Ends an exchange without a result; its measurements until now count.
    private func abandonTransfer() {
        guard let transfer = steps.transfer else { return }
        if let easy = transfer.easy { steps.record(Shared(TransferMetrics(easy, version: transfer.version))) }
        engine.cancel(transfer)
        setWaitsForConnection(false)
        pendingAnswer?.cancel()
    }

    private func complete(_ outcome: TaskOutcome) {
        guard machine.stopped() else { return }
        updateLimit()
        cancelTimer()
        pendingAnswer?.cancel()
        let outcome = steps.close(outcome)
        delegate.executorFinished(self)
        task.finish(outcome)
    }

    // MARK: Effects

    /// Runs work in a Swift task; its answer is dropped where it is late.
    func ask<Answer: Sendable>(
        _ work: @escaping @Sendable () async -> Answer, then handler: AnswerHandler<Answer>
    ) {
        let reactor = engine.reactor
        let (me, next) = (LoopBound(self, to: reactor), LoopBound(handler, to: reactor))
        let (question, report) = (machine.asked(), task.byteReport)
        pendingAnswer = Task {
            // The delegate first gets the events that have led to the question.
            await report?.delivered()
            let answer = await work()
            me.perform { executor in
                guard executor.machine.answered(question) else { return }
                executor.pendingAnswer = nil
                next.here { $0.body }(executor, answer)
            }
        }
    }

    private func setTimer(_ delay: Int64) {
        timer = engine.reactor.schedule(at: Reactor.now &+ delay) { [unowned self] in
            timer = nil
            perform(machine.timerFired())
        }
    }

    private func cancelTimer() {
        if let timer = timer.take() { _ = engine.reactor.cancel(timer) }
    }

    /// Lets the limit for the whole task count while the machine says so.
    private func updateLimit() {
        guard limit.differs(from: machine.isTimed) else { return }
        limit.count(machine.isTimed) { [unowned self] in
            limit.forgetTimer()
            end(
                SessionError(
                    .timedOut, "the task was not done after \(options.timeouts.total ?? .zero)",
                    remedy: .longerTask, failingURL: request.url, response: steps.transfer?.response))
        }
    }

    private func setWaitsForConnection(_ isWaiting: Bool) {
        guard machine.waits(forConnection: isWaiting) else { return }
        updateLimit()
        delegate.executor(self, waitsForConnection: isWaiting)
    }
}

// MARK: What the engine reports

extension RequestExecutor: TransferDelegate {
    func transfer(
        _ transfer: Transfer, received head: SessionResponse
    ) throws(SessionError) -> any ContentSink {
        task.publish(.received(head))
        engine.recordVersion(of: transfer)
        machine.receivedHead()
        reconnection.end()
        let (sink, decision) = try steps.route(head, transfer.facts)
        decision?.begin(self)
        return sink
    }

    func transferReceived(_ transfer: Transfer) { steps.received(transfer) }

    func transferSent(_ transfer: Transfer) {
        task.updateBytes(.sent, transfer.body.sent, of: transfer.body.length)
    }

    func transferWaitsForBody(_ transfer: Transfer, _ reader: any BodyReader) {
        if let resume = ContentRouter.resume(transfer, engine) { reader.whenReadable(resume) }
    }

    func transfer(_ transfer: Transfer, waitsForSlot isWaiting: Bool) {
        if transfer === steps.transfer { setWaitsForConnection(isWaiting) }
    }

    func transferLostPath(_ transfer: Transfer, _ loss: PathLoss) {
        guard transfer === steps.transfer else { return }
        if let detour = loss.detour { delegate.executor(self, found: detour, by: engine) }
        needsInternet = loss.needsInternet
        losePath(loss.sentence)
    }

    func transferMayRepeat(_ transfer: Transfer) -> Bool { steps.chain.isIdempotent }
    func transferMayMove(_ transfer: Transfer) -> Bool { steps.progress().nextStep != nil }
    func transferMayUse(_ transfer: Transfer, _ detour: Detour) -> UplinkTraits? {
        delegate.executor(self, mayUse: detour)
    }

    func transferEnded(_ transfer: Transfer, _ end: TransferEnd) {
        steps.record(end.metrics)
        exchangeEnded(end.error)
    }
}
