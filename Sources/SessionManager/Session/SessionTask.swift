// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Reachability
public import SessionCore
import Synchronization

/// One request on its way: created suspended, resumed, perhaps suspended again, completed exactly once.
///
/// Every member may be used from any thread.
public final class SessionTask: Sendable {
    /// What kind of transfer it is.
    public enum Kind: String, Sendable {
        /// The content is kept in memory.
        case data
        /// A body is sent; the content of the answer is kept in memory.
        case upload
        /// The content goes to a file.
        case download
        /// The content is handed on as it comes.
        case stream
    }

    private struct Record: ~Copyable {
        var machine = TaskStateMachine()
        /// What is sent, where it differs from what was asked for.
        var current: Shared<SessionRequest>?
        var upload: TransferProgress?
        var download: TransferProgress?
        /// Called after each change of the counters.
        var byteWatchers: [@Sendable () -> Void] = []
        var response: SessionResponse?
        var outcome: TaskOutcome?
        var description: String?
        /// What waits for the end; mostly one.
        var waiter: Waiter?
        /// Those that came after the first.
        var others: [Waiter] = []

        subscript(direction: ByteCounters.Direction) -> TransferProgress? {
            get { direction == .sent ? upload : download }
            set { if direction == .sent { upload = newValue } else { download = newValue } }
        }
    }

    private enum Waiter: Sendable {
        case continuation(UnsafeContinuation<Void, Never>)
        /// Called with the outcome.
        case block(@Sendable (TaskOutcome) -> Void)
    }

    /// A number that no other task of the process has.
    public let identifier: Int
    /// What kind of transfer it is.
    public let kind: Kind
    /// What was asked for.
    public var originalRequest: SessionRequest { _read { yield request.value } }
    let request: Shared<SessionRequest>
    /// How urgent it is among those which wait in the queue or for the same host, 0 to 1; 0.5 unless said.
    public let priority: Float
    /// How far body and content are; counted without a ``TransferProgress`` until a caller asks for one.
    let counters = ByteCounters()
    /// Reports them to the delegate; nil where there is none.
    let byteReport: ByteReport?
    var plan: TaskPlan { _read { yield sharedPlan.value } }
    let sharedPlan: Shared<TaskPlan>
    /// Called at its end, by the plan's ``CompletionDelivery``.
    let block: CompletionBlock?
    let session: Session
    /// Where it is in the manager's queue.
    let schedule = ScheduleState()
    private let record: Mutex<Record>
    private static let identifiers = Atomic<Int>(0)

    convenience init(_ request: SessionRequest, kind: Kind, session: Session, plan: TaskPlan) {
        self.init(Shared(request), kind: kind, session: session, plan: Shared(plan))
    }

    init(
        _ request: Shared<SessionRequest>, kind: Kind, session: Session, plan sharedPlan: Shared<TaskPlan>,
        block: CompletionBlock? = nil
    ) {
        identifier = Self.identifiers.add(1, ordering: .relaxed).newValue
        self.kind = kind
        self.session = session
        self.sharedPlan = sharedPlan
        self.block = block
        priority = sharedPlan.value.options.priority
        self.request = request
        record = Mutex(Record())
        let hearsOfBytes = sharedPlan.value.delegateHearsBytes
        byteReport = sharedPlan.value.delegate.map { ByteReport($0, hearsOfBytes: hearsOfBytes) }
        if hearsOfBytes || sharedPlan.value.monitorsHearBytes {
            counters.isWatched.store(true, ordering: .relaxed)
        }
        if let handler = plan.options.uploadProgress {
            record.withLock { $0.upload = makeProgress(of: .sent, plan.options.progressQueue, handler) }
        }
        if let handler = plan.options.downloadProgress {
            record.withLock { $0.download = makeProgress(of: .received, plan.options.progressQueue, handler) }
        }
    }

    /// The progress of the body.
    public var uploadProgress: TransferProgress { progress(of: .sent) }
    /// The progress of the content.
    public var downloadProgress: TransferProgress { progress(of: .received) }

    private func progress(of direction: ByteCounters.Direction) -> TransferProgress {
        record.withLock { record in
            let progress = record[direction] ?? makeProgress(of: direction)
            record[direction] = progress
            return progress
        }
    }

    private func makeProgress(
        of direction: ByteCounters.Direction, _ queue: DeliveryQueue? = nil,
        _ handler: (@Sendable (TransferProgress.Snapshot) -> Void)? = nil
    ) -> TransferProgress {
        TransferProgress(of: counters, direction, queue: queue, handler: handler) { [weak self] control in
            switch control {
            case .cancel: self?.cancel()
            case .pause: self?.suspend()
            case .resume: self?.resume()
            }
        }
    }

    /// Bytes have gone; on the loop's thread.
    func updateBytes(_ direction: ByteCounters.Direction, _ count: Int64, of all: Int64?) {
        guard counters.update(direction, to: count, of: all) else { return }
        let (progress, watchers) = record.withLock { record in (record[direction], record.byteWatchers) }
        progress?.bytesChanged()
        for watcher in watchers { watcher() }
        if direction == .sent { byteReport?.sent(counters.snapshot(.sent), of: self) }
        if plan.monitorsHearBytes { publishBytes(direction) }
    }

    /// Has `body` called after each change of the counters, on the loop's thread.
    func whenBytesChange(_ body: @escaping @Sendable () -> Void) {
        record.withLock { $0.byteWatchers.append(body) }
        counters.isWatched.store(true, ordering: .releasing)
    }

    /// What it does at the moment.
    public var state: TaskState { record.withLock { $0.machine.state } }
    /// What is being sent: differs from the original after an adapter, a redirect or an authentication.
    public var currentRequest: SessionRequest { (record.withLock { $0.current } ?? request).value }
    /// The head of the response, as soon as it has come.
    public var response: SessionResponse? { record.withLock { $0.response } }
    /// Why it failed, once it has completed.
    public var error: SessionError? { record.withLock { $0.outcome?.error } }
    /// What was measured, once it has completed: one entry for each exchange.
    public var metrics: [TransferMetrics] { record.withLock { $0.outcome?.metrics ?? [] } }
    /// For the program's own use.
    public var taskDescription: String? {
        get { record.withLock { $0.description } }
        set { record.withLock { $0.description = newValue } }
    }

    /// Starts it, or ends its suspension.
    public func resume() {
        switch record.withLock({ $0.machine.resume() }) {
        case .start:
            publish(.resumed)
            session.start(self)
        case .proceed:
            publish(.resumed)
            session.publishResumed(self)
            session.followState(of: self)
        case .nothing: break
        }
    }

    /// Stops its bytes, its time-outs and its claim to a slot among the transfers of its host.
    ///
    /// The connection is kept, unless it is still being made: what was suspended before its request was sent
    /// sends it after ``resume()``.
    public func suspend() {
        guard record.withLock({ $0.machine.suspend() }) else { return }
        publish(.suspended)
        session.publishSuspended(self)
        session.followState(of: self)
    }

    /// Ends it with ``SessionError/Code/cancelled``, unless it has completed.
    public func cancel() {
        switch record.withLock({ $0.machine.cancel() }) {
        case .finish:
            publish(.cancelled)
            finish(TaskOutcome(error: cancelledError))
        case .stop:
            publish(.cancelled)
            session.stop(self)
        case .nothing: break
        }
    }

    /// Waits for its end; does not resume it.
    ///
    /// Cancelling the waiting Swift task cancels this one.
    nonisolated(nonsending) public func outcome() async -> TaskOutcome {
        await end()
        return knownOutcome
    }

    /// The outcome of a task that has ended.
    var knownOutcome: TaskOutcome {
        record.withLock { $0.outcome } ?? TaskOutcome(error: cancelledError)
    }

    /// Waits for its end.
    @inline(__always)
    nonisolated(nonsending) private func end() async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { wait(.continuation($0)) }
        } onCancel: {
            cancel()
        }
    }

    /// Resumes it and waits for its content.
    @inline(__always)
    nonisolated(nonsending) func content() async throws(SessionError) -> (Data, SessionResponse) {
        resume()
        await end()
        let outcome = knownOutcome
        if let error = outcome.error { throw error }
        let (response, data) = session.handOver(outcome)
        guard let response else { throw cancelledError }
        return (data ?? Data(), response)
    }

    deinit {
        // Never resumed, and unreachable.
        guard record.withLock({ $0.machine.state }) != .completed, session.lost(identifier) else { return }
        plan.options.completionGroup?.leave()
    }

    // MARK: The end

    var cancelledError: SessionError {
        SessionError(.cancelled, "the task was cancelled", failingURL: originalRequest.url)
    }

    /// Has `body` called with the outcome, at once where it has ended.
    package func whenEnded(_ body: @escaping @Sendable (TaskOutcome) -> Void) { wait(.block(body)) }

    private func wait(_ waiter: Waiter) {
        let outcome: TaskOutcome? = record.withLock { record in
            if let outcome = record.outcome { return outcome }
            if record.waiter == nil { record.waiter = waiter } else { record.others.append(waiter) }
            return nil
        }
        if let outcome { notify(waiter, outcome, nil) }
    }

    private func notify(_ waiter: Waiter, _ outcome: TaskOutcome, _ turn: EngineTurn?) {
        switch waiter {
        case .continuation(let continuation):
            if let turn { turn.resumeLater(continuation) } else { continuation.resume() }
        case .block(let body): body(outcome)
        }
    }

    func setCurrentRequest(_ request: Shared<SessionRequest>) { record.withLock { $0.current = request } }
    func setResponse(_ response: SessionResponse?) { record.withLock { $0.response = response } }

    /// Completes it; only the first call has an effect.
    ///
    /// - Parameter turn: at whose end those that wait for it are resumed; nil for at once.
    func finish(_ outcome: TaskOutcome, wakingAfter turn: EngineTurn? = nil) {
        let (isFirst, waiter, others): (Bool, Waiter?, [Waiter]) = record.withLock { record in
            guard record.machine.complete() else { return (false, nil, []) }
            if let response = outcome.response { record.response = response }
            record.outcome = outcome
            defer { record.others = [] }
            return (true, record.waiter.take(), record.others)
        }
        guard isFirst else { return }
        // Only now: its reader may ask for the outcome at once.
        plan.stream?.end(outcome.error.map { .failure($0) } ?? .success(()))
        if let completion = plan.completion, completion.isWanted(by: self) {
            session.deliveryBegins()
            session.forget(self)
            completion.deliver(self, outcome)
        } else {
            publish(.completed(outcome.error))
            session.events.publish(.completed(self, TaskCompletion(outcome: outcome, error: outcome.error)))
            session.forget(self)
        }
        if let waiter { notify(waiter, outcome, turn) }
        for waiter in others { notify(waiter, outcome, turn) }
    }
}
