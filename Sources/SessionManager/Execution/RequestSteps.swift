// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import SessionCore

/// The steps of one task's request, composed of parts that own their state; each returns what it leads to.
///
/// On the loop's thread.
final class RequestSteps {
    let task: SessionTask
    let engine: TransferEngine
    let chain: RequestChain
    var content: ContentRouter
    var resumption: Resumption
    var retries = RetryFlow()
    var cache: CacheFlow?
    var authentication: AuthenticationFlow?
    var serverTrust: ServerTrustFlow?
    /// The exchange under way, or the last one until the next begins.
    private(set) var transfer: Transfer?
    /// An exchange that read nothing of the body: the next one sends the same body, which may be readable
    /// only once.
    private var unsent: Transfer?
    /// Why the network was lost last.
    var lostSentence: String?
    /// What an interceptor got of the content.
    var serialized: Shared<SerializedContent>?
    /// A stored response could not be read.
    var isStoredUnreadable = false
    private(set) var metrics: [Shared<TransferMetrics>] = []

    init(_ task: SessionTask, _ engine: TransferEngine) {
        self.task = task
        self.engine = engine
        chain = RequestChain(task)
        content = ContentRouter(task.kind)
        resumption = Resumption(task, on: engine.reactor)
    }

    // MARK: Before an exchange

    /// Determines what is sent.
    func prepare(_ step: RequestStateMachine.Step) -> NextStep {
        switch step {
        case .attempt:
            guard let interceptor = task.plan.interceptor else { return beginTry() }
            return .ask(AsyncStep(retries.adaptation(interceptor, task)) { $0.adapted($1) })
        case .request: return .exchange
        case .redirect: return followRedirect()
        case .newBody: return askForBody(chain.request)
        case .range:
            // Asked for from the beginning: what a redirect has led to may be another place by now, or no
            // place any more.
            if chain.recordsBeforeRedirects, chain.rewindRedirects() { authentication = nil }
            return resumption.continuation(chain).map { resume($0) } ?? .exchange
        }
    }

    private func adapted(_ result: Result<SessionRequest, any Error>) -> NextStep {
        do {
            chain.request = try result.get()
            task.publish(.adapted(chain.request))
            return beginTry()
        } catch {
            let error = chain.sessionError(error)
            task.publish(.adaptationFailed(error))
            return .fail(error, againFrom: .attempt)
        }
    }

    private func beginTry() -> NextStep {
        resumption.preferPlainContent(chain, isDownload: content.isDownload)
        guard let plan = resumption.beginning(chain, isDownload: content.isDownload) else {
            return useCacheOrSend()
        }
        return resume(plan)
    }

    /// Continues with what has come already.
    func resume(_ plan: ResumePlan) -> NextStep {
        do throws(SessionError) {
            switch plan {
            case .complete:
                guard let record = resumption.record else { return .nothing }
                let response = SessionResponse(url: record.url, statusCode: 200)
                guard content.isDownload else {
                    return .complete(TaskOutcome(response: task.response ?? response))
                }
                content.adopt(try resumption.part(record, chain))
                return finishDownload(response)
            case .resume(let rest):
                try resumption.prepare(isDownload: content.isDownload, chain)
                chain.request = rest
            case .restart(let whole):
                resumption.giveUp()
                chain.request = whole
            }
            return .exchange
        } catch {
            return .complete(TaskOutcome(error: error.with(failingURL: resumption.record?.url)))
        }
    }

    // MARK: Exchanges

    func record(_ measured: Shared<TransferMetrics>) {
        task.publish(.measured(measured.value))
        // Mostly there is one exchange, and an array of one is less to make than one that grows.
        if metrics.isEmpty { metrics = [measured] } else { metrics.append(measured) }
    }

    /// The transfer of the current request.
    func makeTransfer(_ binding: PathBinding, for delegate: any TransferDelegate) -> Transfer {
        forgetExchange()
        cache?.exchangeBegins()
        let transfer = Transfer(
            chain.current, priority: task.priority, isBulk: content.isDownload,
            credentials: authentication?.libraryCredentials, needsNewConnection: chain.needsNewConnection,
            binding: binding, engine: engine, delegate: delegate)
        if let approvals = engine.approvals, transfer.isSecure {
            transfer.judge =
                serverTrust?.judge(approvals, transfer.origin) ?? approvals.judge(for: transfer.origin)
        }
        if let unsent { transfer.adoptBody(of: unsent) }
        unsent = nil
        self.transfer = transfer
        task.publish(.sent(chain.request))
        return transfer
    }

    func forgetExchange() {
        content.forgetExchange()
        chain.forgetExchange()
        serialized = nil
    }

    /// The exchange is over, and nothing of it is needed.
    func forgetTransfer() { transfer = nil }

    /// Keeps what a later exchange needs of this one.
    func leave(for step: RequestStateMachine.Step) {
        guard let transfer = transfer.take() else { return }
        if step == .request, transfer.body.sent == 0 { unsent = transfer }
        resumption.interrupted(step, transfer, content, chain)
        guard step != .range else { return }
        content.forgetExchange()
        if step != .redirect { chain.forgetExchange() }
    }

    /// Keeps the body of an exchange that could not connect.
    func leaveUnconnected() { unsent = transfer.take() }

    /// More content has come.
    func received(_ transfer: Transfer) {
        guard !chain.hasNext, !chain.isMisdirected else { return }
        if let file = content.file { resumption.checkpoints?.recordProgress(of: file) }
        let offset = resumption.offset
        task.updateBytes(.received, offset + transfer.content.count, of: content.expected.map { $0 + offset })
    }

    /// The task ends: its outcome with metrics, and with a record of what has come.
    func close(_ outcome: TaskOutcome) -> TaskOutcome {
        transfer = nil
        var outcome = outcome
        if let record = resumption.finish(outcome.error, outcome.response, content, chain) {
            outcome.resumeRecord = record
        }
        outcome.setMetrics(metrics)
        task.plan.stream?.end(outcome.error.map { .failure($0) } ?? .success(()))
        return outcome
    }

    /// How far the exchange under way is.
    func progress() -> ExchangeProgress {
        guard let transfer else { return ExchangeProgress(Interruption(isIdempotent: true)) }
        let isChallenge = transfer.response.map { chain.isChallenge($0, engine) } ?? false
        return resumption.progress(transfer, content, chain, isChallenge: isChallenge)
    }

    // MARK: Other requests

    /// The same request over a connection of its own (421).
    func sendElsewhere() -> NextStep {
        chain.leaveMisdirected()
        return send(chain.request)
    }

    func followRedirect() -> NextStep {
        guard let next = chain.next else { return .nothing }
        task.publish(.redirected(to: next))
        authentication?.redirected()
        chain.follow(from: cache?.unconditional(chain.request) ?? chain.request, to: next)
        guard let cache, next.body == nil else { return send(next) }
        turn(to: cache.unconditional(next))
        return useCacheOrSend()
    }

    private func turn(to next: SessionRequest) {
        if Origin(chain.request.url) != Origin(next.url) { authentication?.forgetLibraryCredentials() }
        chain.request = next
    }

    /// Sends a request, with another body where the former one cannot be sent again.
    func send(_ next: SessionRequest) -> NextStep {
        turn(to: next)
        guard let transfer, case .stream(let source)? = next.body, !source.isRewindable else {
            return .exchange
        }
        self.transfer = nil
        if chain.isBodySpent(by: transfer) { return askForBody(next) }
        unsent = transfer
        return .exchange
    }

    /// Has the delegate make a new body for a request whose own was read and cannot be read twice.
    private func askForBody(_ next: SessionRequest) -> NextStep {
        let (task, delegate) = (task, task.plan.delegate)
        return .ask(
            AsyncStep {
                await delegate?.task(task, needsNewBodyFor: next)
            } then: { steps, body in
                guard let body else {
                    return .end(
                        .bodyExhausted("the server wants the request once more, and its body", next.url))
                }
                var again = next
                again.body = body
                steps.chain.request = again
                steps.unsent = nil
                return .exchange
            })
    }

    /// Goes back to the request before redirects, for another try.
    func beginAgain(with record: ResumeRecord?) {
        retries.begin()
        resumption.beginTry(with: record, content, hasReader: task.plan.stream != nil)
        content.forgetFile()
        _ = chain.rewindRedirects()
        authentication = nil
        serverTrust = nil
        transfer = nil
        unsent = nil
    }
}
