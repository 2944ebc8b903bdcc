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
    private let engine: any TransferCarrier
    private let gate: NetworkGate
    private unowned let delegate: any RequestExecutorDelegate
    private var machine = RequestStateMachine()
    private let steps: RequestSteps
    private var reconnection = Reconnection()
    private var limit: TaskTimeLimit
    private var timer: TimerID?
    private var pendingAnswer: Task<Void, Never>?
    /// What its answer leads to.
    private var afterAnswer: ((RequestSteps) -> NextStep)?

    init(
        _ task: SessionTask, engine: any TransferCarrier, gate: NetworkGate,
        delegate: any RequestExecutorDelegate
    ) {
        self.task = task
        self.engine = engine
        self.gate = gate
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
    /// What the network has to be for it beside what its task wants.
    var needsClock: Bool { machine.holds.contains(.clock) }
    var needsInternet: Bool { machine.holds.contains(.internet) }
    /// Whether it may be asking a name server of the former network.
    var isLookingUp: Bool { steps.transfer?.isLookingUp == true }

    /// Whether it waits for a connection over another interface than the gate binds it to now.
    var connectsElsewhere: Bool {
        steps.transfer.map { $0.isUnconnected && gate.access(of: self).leadsElsewhere($0) } ?? false
    }

    /// Whether it stops where the gate has closed for these: where its connection may still be good, the
    /// engine says when it is dead.
    func mustPark(_ closed: DemandSet) -> Bool {
        guard !isParked, !isFinished, let transfer = steps.transfer,
            transfer.easy == nil || !gate.watchesConnections
        else { return false }
        return closed.contains(gate.demand(of: self))
    }

    func start() {
        updateLimit()
        perform { $0.prepare(.attempt) }
    }

    /// Finishes the task with an error, whatever it does now.
    func finish(_ error: SessionError) {
        if !machine.isFinished { finish(steps.outcome(error)) }
    }

    /// Stops the bytes, or lets them flow again.
    func setSuspended(_ isSuspended: Bool) {
        perform(isSuspended ? machine.suspended() : machine.resumed())
    }

    /// Ends the exchange under way without a result: it is continued, or begun again, after ``unpark()``.
    ///
    /// The task fails where its request must not be sent twice and may have been carried out.
    func park(_ sentence: String, needsInternet: Bool = false) {
        guard !machine.isParked, !machine.isFinished else { return }
        steps.networkLost(sentence)
        task.publish(.parked(sentence))
        perform(machine.parked(steps.progress(), needsInternet: needsInternet))
    }

    /// Ends ``park(_:)``.
    func unpark() {
        guard machine.isParked, !machine.isFinished else { return }
        task.publish(.unparked)
        perform(machine.unparked())
    }

    /// The connection that is looked up, or has died, is given up for another path.
    func losePath(_ sentence: String, needsInternet: Bool = false) {
        reconnection.pathLost(at: Reactor.now)
        guard !machine.isFinished, !machine.isParked else { return }
        park(sentence, needsInternet: needsInternet)
        if machine.isParked, !machine.isFinished { delegate.executorLostPath(self) }
    }

    // MARK: Actions

    private func perform(
        _ action: RequestStateMachine.Action, _ error: SessionError? = nil, over binding: PathBinding = .any
    ) {
        updateLimit()
        switch action {
        case .nothing: break
        case .prepare(let step): perform { $0.prepare(step) }
        case .send: engine.start(steps.makeTransfer(binding, for: self))
        case .park: park(waitingAfter: nil)
        case .parkAfterFailure(let step):
            steps.keepTransfer(for: step)
            park(waitingAfter: error)
        case .pause, .unpause:
            if let transfer = steps.transfer { engine.setSuspended(transfer, action == .pause) }
        case .abandon(let step):
            abandonTransfer()
            steps.keepTransfer(for: step)
        case .abandonAndFail(let verdict):
            abandonTransfer()
            fail(steps.interruptionError(verdict), againFrom: .request)
        case .resumeContent: if let transfer = steps.transfer { engine.resume(transfer) }
        case .endExchange: exchangeEnded(nil)
        case .cancelTimer: cancelTimer()
        case .reconnect:
            steps.keepUnconnected()
            setTimer(reconnection.nextDelay())
        case .follow(let next): perform { $0.follow(next, error) }
        case .askRetriers: if let error { perform { $0.askRetriers(after: error) } }
        case .finish: if let error { finish(gate.explaining(error, of: self)) }
        }
    }

    /// Carries out what a step leads to.
    private func perform(_ step: (RequestSteps) -> NextStep) {
        switch step(steps) {
        case .nothing: break
        case .exchange:
            steps.forgetTransfer()
            let access = gate.access(of: self)
            perform(machine.ready(isBlocked: access.block != nil), over: access.binding)
        case .send(let next): perform { $0.send(next) }
        case .ask(let step): ask(step)
        case .decided: perform(machine.decided())
        case .useResponse(let response): perform { $0.useResponse(response) }
        case .useStored(let stored, let response, let isStale):
            if isStale { delegate.executor(self, needs: CacheFlow.confirmation(of: steps.chain)) }
            perform { $0.deliver(stored, response) }
        case .failTry(let error, let step): fail(error, againFrom: step)
        case .failExchange(let error):
            abandonTransfer()
            exchangeEnded(error)
        case .backOff(let delay):
            machine.backsOff()
            setTimer(delay.nanoseconds)
        case .finish(let outcome): finish(outcome)
        case .finishFailed(let error): finish(error)
        }
    }

    private func fail(_ error: SessionError, againFrom step: RequestStateMachine.Step) {
        let isBlocked = !machine.isParked && gate.access(of: self).block != nil
        let isForClock = !machine.isParked && gate.waitsForClock(self, after: error)
        let failure = steps.describeFailure(
            error, againFrom: step, isBlocked: isBlocked, isForClock: isForClock)
        perform(machine.failed(failure), error)
    }

    private func exchangeEnded(_ error: SessionError?) {
        perform(machine.ended(steps.describeEnd(error, &reconnection)), error)
    }

    private func park(waitingAfter failure: SessionError?) {
        if let block = gate.access(of: self).block { steps.networkLost(block) }
        task.publish(.parked(steps.lostSentence ?? ""))
        delegate.executorParked(self, failure)
    }

    /// Ends the exchange under way without a result; its measurements until now count.
    private func abandonTransfer() {
        guard let transfer = steps.transfer, transfer.isUnderWay else { return }
        if let metrics = engine.metrics(of: transfer) { steps.record(Shared(metrics)) }
        engine.cancel(transfer)
        setWaitsForConnection(false)
        pendingAnswer?.cancel()
    }

    private func finish(_ outcome: TaskOutcome) {
        abandonTransfer()
        guard machine.finished() else { return }
        updateLimit()
        cancelTimer()
        pendingAnswer?.cancel()
        afterAnswer = nil
        let outcome = steps.finish(outcome)
        delegate.executorFinished(self)
        task.finish(outcome, wakingAfter: engine.turn)
    }

    // MARK: Effects

    /// Runs the work of a step in a Swift task; its answer is dropped where it is late.
    private func ask(_ step: AsyncStep) {
        let (me, work) = (LoopBound(self, to: engine.reactor), step.work)
        let (question, report) = (machine.asked(), task.byteReport)
        afterAnswer = step.next
        pendingAnswer = Task {
            // The delegate first gets the events that have led to the question.
            await report?.delivered()
            await work()
            me.perform { executor in
                guard executor.machine.answered(question) else { return }
                executor.pendingAnswer = nil
                if let next = executor.afterAnswer.take() { executor.perform(next) }
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
            finish(steps.timeLimitError())
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
        reconnection.serverAnswered()
        let (sink, decision) = try steps.route(head, transfer.heads.facts)
        if let decision { ask(decision) }
        if steps.isTakenOver {
            limit.end()
            delegate.executorTakenOver(self)
        }
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
        if let detour = loss.detour { gate.found(detour, by: engine.turn, for: request) }
        losePath(loss.sentence, needsInternet: loss.needsInternet)
    }

    func transferMayRepeat(_ transfer: Transfer) -> Bool { steps.chain.isIdempotent }
    func transferMayMove(_ transfer: Transfer) -> Bool { steps.progress().nextStep != nil }
    func transferMayUse(_ transfer: Transfer, _ detour: Detour) -> UplinkTraits? {
        gate.traits(of: detour, for: self)
    }

    func transferEnded(_ transfer: Transfer, _ end: TransferEnd) {
        steps.record(end.metrics)
        exchangeEnded(end.error)
    }
}
