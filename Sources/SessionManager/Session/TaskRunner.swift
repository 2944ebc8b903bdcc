// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import SessionCore

/// Carries out one task: exchange after exchange, until there is something to complete it with.
///
/// On the loop's thread. What has to be asked elsewhere (a delegate, a handler) is asked in a task of its own, and the answer comes
/// back as a message.
final class TaskRunner {
    let task: SessionTask
    let engine: TransferEngine
    /// Whose it is; says what the sockets of an exchange are bound to, and takes it back when a path has gone.
    unowned let table: RunnerTable
    /// What is sent: what was asked for, until an adapter, a redirect or an authentication changes it.
    private var boxedRequest: Boxed<SessionRequest>
    /// What was sent before the first redirect led elsewhere; nil where none has.
    private var beforeRedirects: Boxed<SessionRequest>?
    var transfer: Transfer?
    private(set) var metrics: [Boxed<TransferMetrics>] = []
    /// Tries besides the first.
    var retries = 0
    private var pause: TimerID?
    var hops = 0
    private(set) var isSuspended = false
    /// Nothing of it runs, until it is told to go on.
    var isParked = false
    private(set) var isOver = false
    /// The exchange waits until its host has room for a connection.
    var isInLine = false
    private var totalLimit: TimerID?
    /// What is left of the limit for the whole task while it does not run; nil where there is none.
    private var limitLeft: Int64?
    private var limitBegan: Int64 = 0
    /// What is being asked elsewhere.
    private var question: Task<Void, Never>?
    /// Tells answers to questions that have become pointless from others.
    private var questions = 0

    // What becomes of the response of the current exchange.
    var memory: MemorySink?
    var file: FileSink?
    var gate: GateSink?
    /// The request that follows this exchange.
    var next: SessionRequest? {
        get { following?.value }
        set { following = newValue.map { Boxed($0) } }
    }
    /// Apart, as all that is big and seldom there: the runner is a small object then, which malloc(3) has at hand.
    private var following: Boxed<SessionRequest>?
    /// Whether a request follows this exchange.
    var hasNext: Bool { following != nil }
    /// The exchange ended before it was decided what to do with it.
    var heldEnd: TransferEnd? {
        get { held?.value }
        set { held = newValue.map { Boxed($0) } }
    }
    private var held: Boxed<TransferEnd>?
    /// What is expected of the content, where the server says so and it is not compressed.
    var expected: Int64?
    /// Bytes of an earlier download that this one goes on with.
    var offset: Int64 = 0
    var isDownload: Bool
    /// Why a download does not take the content.
    var refusedBy: SessionError?
    /// The user wants to go on later.
    var keepsPartialFile: Bool
    /// Made when a server first asks for credentials.
    var authentication: TaskAuthentication?
    /// Made when the session's delegate is first asked about a server.
    var serverTrust: TaskServerTrust?
    /// The server has said that this connection does not lead to it.
    var misdirection = TaskMisdirection()
    /// What is stored could not be decoded.
    var wantsAnother = false
    /// Nil where there is no response cache.
    var caching: TaskCache?

    // What goes on after a path was lost.
    var continuation = TaskContinuation.exchange
    /// What a download goes on with: what an earlier task has left, or what had come when the path was lost.
    var record: ResumeRecord? {
        get { boxedRecord?.value }
        set { boxedRecord = newValue.map { Boxed($0) } }
    }
    private var boxedRecord: Boxed<ResumeRecord>?
    /// Whether there is a record, known since or from the beginning; the record itself is much to copy.
    var hasRecord: Bool { boxedRecord != nil || isContinuation }
    /// The task was made with a record, and that has not turned out to be of no use.
    private var isContinuation: Bool
    /// The task was made with a record, and that was of no use.
    private(set) var beginsAnew = false

    /// Nothing can be gone on with: everything is asked for, and written to where the part was.
    func giveUpRecord() {
        boxedRecord = nil
        beginsAnew = beginsAnew || isContinuation
        isContinuation = false
    }

    /// Writes down what a later process can go on from; nil where that is not wanted.
    private(set) lazy var checkpoints = DownloadCheckpoints(task.plan.options, reactor: engine.reactor)
    /// The file with what had come so far, open.
    var continued: FileSink?
    /// What the next exchange is bound to; nil asks the table.
    var nextBinding: PathBinding?
    var lostSentence: String?
    /// A new connection is tried again until then; 0 where nothing has spoken for that yet.
    var reconnectDeadline: Int64 = 0
    var reconnectDelay: Int64 = 0
    var reconnect: TimerID?
    /// An exchange of which not a byte of the body was read: the next one sends the same body, which may be readable only once.
    var unsent: Transfer?

    init(_ task: SessionTask, engine: TransferEngine, table: RunnerTable) {
        self.task = task
        boxedRequest = task.request
        self.engine = engine
        self.table = table
        isDownload = task.kind == .download
        // Read where it lies: a plan is much to copy.
        let plan = task.boxedPlan
        keepsPartialFile = plan.value.options.keepsPartialFile || plan.value.options.resumeFile != nil
        boxedRecord = plan.value.record.map { Boxed($0) }
        isContinuation = boxedRecord != nil
    }

    var request: SessionRequest {
        _read { yield boxedRequest.value }
        set {
            boxedRequest = Boxed(newValue)
            task.note(request: boxedRequest)
        }
    }

    /// What was asked for before redirects: as the adapters want it, with the credentials that its server has wanted since.
    var askedFor: SessionRequest {
        _read {
            let boxed = beforeRedirects ?? boxedRequest
            yield boxed.value
        }
    }

    /// Whether redirects have led elsewhere.
    var isRedirected: Bool { beforeRedirects != nil }

    /// One request follows another as the server wants.
    func noteRedirect(from former: SessionRequest, to next: SessionRequest) {
        hops += 1
        misdirection = TaskMisdirection()
        guard beforeRedirects == nil, next.url != former.url || next.method != former.method else { return }
        beforeRedirects = Boxed(former)
    }

    /// Goes back to where redirects began; whoever wants credentials on the way there is to be asked for them again.
    func forgetRedirects() {
        hops = 0
        misdirection = TaskMisdirection()
        guard let first = beforeRedirects.take() else { return }
        authentication = nil
        boxedRequest = first
        task.note(request: first)
    }

    /// Under which conditions; read where they lie.
    var options: RequestOptions { _read { yield boxedRequest.value.sharedOptions.value } }

    func start() {
        limitLeft = options.timeouts.total?.nanoseconds
        startLimit()
        adapt()
    }

    /// Lets the limit for the whole task run, as far as it is left.
    func startLimit() {
        guard let limitLeft, totalLimit == nil, !isOver, !isParked, !isSuspended, !isInLine else { return }
        limitBegan = Reactor.now
        totalLimit = engine.reactor.schedule(at: limitBegan &+ limitLeft) { [unowned self] in
            totalLimit = nil
            end(
                SessionError(
                    .timedOut, "the task was not done after \(options.timeouts.total ?? .zero)",
                    remedy: .longerTask, failingURL: request.url, response: transfer?.response))
        }
    }

    /// Stops the limit for the whole task: it waits for something else than the server.
    func stopLimit() {
        guard let timer = totalLimit else { return }
        _ = engine.reactor.cancel(timer)
        totalLimit = nil
        limitLeft = max(0, (limitLeft ?? 0) - (Reactor.now &- limitBegan))
    }

    /// Ends the task with an error, whatever it does now.
    func end(_ error: SessionError) {
        guard !isOver else { return }
        let (response, memory) = (transfer?.response, memory)
        if let transfer { abandon(transfer) }
        complete(TaskOutcome(response: response, data: memory?.data, error: error))
    }

    /// Ends an exchange without a result; what was measured of it until now counts.
    func abandon(_ transfer: Transfer) {
        if let easy = transfer.easy { note(Boxed(TransferMetrics(easy, version: transfer.version))) }
        engine.cancel(transfer)
        setInLine(false)
    }

    func setSuspended(_ isSuspended: Bool) {
        guard self.isSuspended != isSuspended, !isOver else { return }
        self.isSuspended = isSuspended
        if isSuspended { stopLimit() } else { startLimit() }
        if let transfer {
            engine.setSuspended(transfer, isSuspended)
        } else if !isSuspended {
            proceed()
        }
    }

    /// Begins an exchange with the current request.
    func exchange() {
        transfer = nil
        guard !isSuspended, !isParked, !isOver, table.admits(self) else { return }
        forgetExchange()
        caching?.requestDate = Date()
        let transfer = Transfer(
            boxedRequest, priority: task.priority, isBulk: isDownload,
            credentials: authentication?.forLibrary, needsNewConnection: misdirection.needsNewConnection,
            binding: nextBinding ?? table.binding(for: self), engine: engine, observer: self)
        nextBinding = nil
        if let approvals = engine.approvals, transfer.isSecure {
            transfer.judge = judge(approvals, transfer.origin)
        }
        if let unsent { transfer.takeBody(of: unsent) }
        unsent = nil
        self.transfer = transfer
        task.tell(.sent(request))
        engine.start(transfer)
    }

    /// Forgets what became of an earlier response.
    func forgetExchange() {
        memory = nil
        file = nil
        gate = nil
        next = nil
        heldEnd = nil
        refusedBy = nil
        misdirection.isPending = false
    }

    /// Runs `body` after a while, unless the task has ended by then.
    func later(_ delay: Duration, _ body: @escaping (TaskRunner) -> Void) {
        transfer = nil
        pause = engine.reactor.schedule(at: Reactor.now &+ delay.nanoseconds) { [unowned self] in
            pause = nil
            body(self)
        }
    }

    /// Nothing is being asked or waited for.
    var isAtRest: Bool { question == nil && pause == nil && reconnect == nil }

    /// What is being asked about the exchange under way is no matter any more.
    func forgetQuestion() {
        question?.cancel()
        question = nil
        questions += 1
    }

    func note(_ metrics: Boxed<TransferMetrics>) {
        task.tell(.measured(metrics.value))
        // Mostly there is one exchange, and an array of one is less to make than one that grows.
        if self.metrics.isEmpty { self.metrics = [metrics] } else { self.metrics.append(metrics) }
    }

    func complete(_ outcome: TaskOutcome) {
        guard !isOver else { return }
        isOver = true
        if let totalLimit { _ = engine.reactor.cancel(totalLimit) }
        if let pause { _ = engine.reactor.cancel(pause) }
        endReconnect()
        question?.cancel()
        transfer = nil
        isInLine = false
        var outcome = outcome
        if let file = file ?? continued {
            if outcome.error != nil, keepsPartialFile {
                outcome.resumeRecord = record(of: file, outcome.response)
            }
            // What cannot be gone on with is of no use; neither is what another record tells already.
            if outcome.resumeRecord != nil {
                file.keep()
            } else {
                file.discard()
                checkpoints?.forget()
            }
        }
        outcome.take(metrics)
        task.plan.stream?.end(outcome.error.map { .failure($0) } ?? .success(()))
        table.ended(self)
        task.finish(outcome)
    }

    /// Asks something elsewhere and goes on with the answer, unless the task has ended meanwhile.
    func ask<Answer: Sendable>(
        _ question: @escaping @Sendable () async -> Answer, then: @escaping (TaskRunner, Answer) -> Void
    ) {
        let reactor = engine.reactor
        let me = LoopBound(self, to: reactor)
        let next = LoopBound(Reaction(then), to: reactor)
        let number = questions
        let report = task.byteReport
        self.question = Task {
            // The delegate hears first of what led to the question.
            await report?.told()
            let answer = await question()
            me.perform { runner in
                guard runner.questions == number else { return }
                runner.question = nil
                guard !runner.isOver else { return }
                next.here { $0.body }(runner, answer)
            }
        }
    }
}

/// What is to be done with an answer; an object, so that it can be bound to the loop.
private final class Reaction<Answer> {
    let body: (TaskRunner, Answer) -> Void
    init(_ body: @escaping (TaskRunner, Answer) -> Void) { self.body = body }
}
