// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import SessionCore

/// The steps of one task's request, composed of parts that own their state; each returns what it leads to.
///
/// On the loop's thread. All that changes a part that is a value is in this file.
final class RequestSteps {
    let task: SessionTask
    let engine: any TransferCarrier
    let chain: RequestChain
    private(set) var content: ContentRouter
    private(set) var resumption: Resumption
    private(set) var interception = InterceptorFlow()
    private(set) var cache: CacheFlow?
    private var authentication: AuthenticationFlow?
    private var serverTrust: ServerTrustFlow?
    /// The exchange under way, or the last one until the next begins.
    private(set) var transfer: Transfer?
    /// An exchange that read nothing of the body: the next one sends the same body, which may be readable
    /// only once.
    private var unsent: Transfer?
    /// Whether the server has handed the connection over to another protocol: nothing is sent again then.
    private(set) var isTakenOver = false
    /// Why the network was lost last.
    private(set) var lostSentence: String?
    private(set) var metrics: [Shared<TransferMetrics>] = []

    init(_ task: SessionTask, _ engine: any TransferCarrier) {
        self.task = task
        self.engine = engine
        chain = RequestChain(task)
        content = ContentRouter(task.kind)
        resumption = Resumption(task, on: engine.reactor)
        if let mirrors = chain.mirrors { mirrors.begin(continuing: resumption.formerURL) }
    }

    // MARK: Before an exchange

    /// Determines what is sent.
    func prepare(_ step: RequestStateMachine.Step) -> NextStep {
        switch step {
        case .attempt:
            guard let interceptor = task.plan.interceptor else {
                if chain.mirrors != nil { chain.request = task.originalRequest }
                return beginTry()
            }
            chain.secure()
            return .ask(adaptation(by: interceptor))
        case .request: return .exchange
        case .redirect: return followRedirect()
        case .newBody: return askForBody(chain.request)
        case .range:
            // Rewind redirects: their targets may have moved.
            if chain.recordsBeforeRedirects, chain.rewindRedirects() { authentication = nil }
            return resumption.planAfterInterruption(chain).map { resume($0) } ?? .exchange
        }
    }

    func beginTry() -> NextStep {
        if let mirrors = chain.mirrors { chain.request = mirrors.placed(chain.request) }
        chain.secure()
        resumption.preferPlainContent(chain, isDownload: content.isDownload)
        guard let plan = resumption.beginning(chain, isDownload: content.isDownload) else {
            return useCacheOrSend()
        }
        return resume(plan)
    }

    /// Continues with what has come already.
    private func resume(_ plan: ResumePlan) -> NextStep {
        do throws(SessionError) {
            switch plan {
            case .complete:
                guard let record = resumption.record else { return .nothing }
                let response = SessionResponse(url: record.url, statusCode: 200)
                guard content.isDownload else {
                    return .finish(TaskOutcome(response: task.response ?? response))
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
            return .finish(TaskOutcome(error: error.with(failingURL: resumption.record?.url)))
        }
    }

    /// Asks for the rest, where the server has sent a part of the missing bytes.
    func askForRest(_ longer: ResumeRecord) -> NextStep {
        transfer = nil
        return resume(resumption.planForRest(longer, content, chain))
    }

    /// Asks the cache first, where there is one.
    private func useCacheOrSend() -> NextStep {
        transfer = nil
        let flow = task.plan.cache.map { CacheFlow($0) }
        cache = flow
        guard let flow, let lookup = flow.lookup(chain, isUnreadable: interception.isStoredUnreadable) else {
            return CacheFlow.begin(chain)
        }
        return .ask(AsyncStep(lookup) { flow.begin($0.chain, with: $1) })
    }

    // MARK: Exchanges

    func record(_ measured: Shared<TransferMetrics>) {
        task.publish(.measured(measured.value))
        metrics.append(measured)
    }

    /// The transfer of the current request.
    func makeTransfer(_ binding: PathBinding, for delegate: any TransferDelegate) -> Transfer {
        forgetExchange()
        cache?.exchangeBegins()
        let transfer = Transfer(
            chain.current, priority: task.priority, isBulk: content.isDownload,
            credentials: authentication?.libraryCredentials, needsNewConnection: chain.needsNewConnection,
            binding: binding, serverTrust: serverTrust, engine: engine, delegate: delegate)
        if let upgrade = task.plan.upgrade { engine.upgrade(transfer, by: upgrade) }
        if let unsent { transfer.adoptBody(of: unsent) }
        unsent = nil
        self.transfer = transfer
        task.publish(.sent(chain.request))
        return transfer
    }

    private func forgetExchange() {
        content.forgetExchange()
        chain.forgetExchange()
        interception.exchangeBegins()
    }

    /// The exchange is over, and nothing of it is needed.
    func forgetTransfer() {
        transfer = nil
        chain.secure()
    }

    /// Keeps what a later exchange needs of this one.
    func keepTransfer(for step: RequestStateMachine.Step) {
        guard let transfer = transfer.take() else { return }
        if step == .request, transfer.body.sent == 0 { unsent = transfer }
        resumption.interrupted(step, transfer, content, chain)
        guard step != .range else { return }
        content.forgetExchange()
        if step != .redirect { chain.forgetExchange() }
    }

    /// Keeps the body of an exchange that could not connect.
    func keepUnconnected() { unsent = transfer.take() }

    func networkLost(_ sentence: String) { lostSentence = sentence }

    /// Whether another try can serve the task's reader, where it has one.
    func canTryAgain() -> Bool {
        if isTakenOver { return false }
        return task.plan.stream.map { resumption.serves($0, transfer, content, chain) } ?? true
    }

    /// Another try begins, as an interceptor wants.
    func beginRetry(with record: ResumeRecord?) {
        interception.begin()
        chain.mirrors?.beginRound()
        beginAgain(with: record)
    }

    /// What has come is useless.
    func throwAwayPart() { resumption.throwAway() }

    /// Goes back to the request before redirects, for another try.
    func beginAgain(with record: ResumeRecord?) {
        resumption.beginTry(with: record, content, hasReader: task.plan.stream != nil)
        content.forgetFile()
        _ = chain.rewindRedirects()
        authentication = nil
        serverTrust = nil
        transfer = nil
        unsent = nil
    }

    /// The task is finished: its outcome with metrics, and with a record of what has come.
    func finish(_ outcome: TaskOutcome) -> TaskOutcome {
        transfer = nil
        var outcome = outcome
        if let file = content.file ?? resumption.openPart,
            let record = resumption.finish(file, outcome.error, outcome.response, content, chain)
        {
            outcome.resumeRecord = record
        }
        outcome.setMetrics(metrics)
        return outcome
    }

    // MARK: Other requests

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

    /// Sends a request with the body that was made for it.
    func send(_ next: SessionRequest, with body: RequestBody) -> NextStep {
        var next = next
        next.body = body
        chain.request = next
        unsent = nil
        return .exchange
    }

    func authenticate(_ demand: CredentialDemand) -> NextStep {
        let flow = authentication ?? AuthenticationFlow()
        authentication = flow
        return flow.challenged(demand, chain, engine)
    }

    /// libcurl's own authentication does not show in the request, and the response could be handed to another
    /// user: it must not be stored.
    var isSecret: Bool { authentication?.libraryCredentials != nil }

    /// A handshake waits for the session's delegate.
    func askAboutServer(_ error: SessionError) -> NextStep {
        guard let peer = error.undecidedPeer else { return .failTry(error) }
        let flow = serverTrust ?? ServerTrustFlow()
        serverTrust = flow
        return flow.undecided(peer, error, chain, engine.approvals)
    }

    // MARK: Content

    /// Where the content goes, and what is asked about it first.
    func route(_ head: SessionResponse, _ facts: ResponseHeadInfo) throws(SessionError) -> (
        any ContentSink, AsyncStep?
    ) {
        chain.recordStrictTransport(head, isSecure: transfer?.isSecure == true)
        if head.statusCode == 101, let takeover = transfer?.takeover {
            task.setResponse(head)
            try takeover.accept(head)
            isTakenOver = true
            return (ContentRouter.discarding, nil)
        }
        if let cache, cache.received(head, for: chain.request) { return (ContentRouter.discarding, nil) }
        if head.statusCode == 421, chain.receivedMisdirection() { return (ContentRouter.discarding, nil) }
        task.setResponse(head)
        let decision = try content.route(
            head, facts, chain, isChallenge: chain.isChallenge(head, engine), sockets: transfer?.route?.calls)
        switch decision {
        case .sink(let sink)?: return (sink, nil)
        case .ask(.redirect(let proposed, let rules))?:
            return (content.holdBack(), redirectQuestion(head, proposed, rules))
        case .ask(.content)?: return (content.holdBack(), contentQuestion(head))
        case nil: return (try finalSink(for: head), nil)
        }
    }

    func finalSink(for head: SessionResponse) throws(SessionError) -> any ContentSink {
        try content.finalSink(for: head, chain, &resumption, cause: lostSentence, transfer, engine)
    }

    func becomeDownload() { content.becomeDownload(task) }

    /// Completes the task with a stored response.
    func deliver(_ stored: StoredResponse, _ response: SessionResponse) -> NextStep {
        if let cache {
            cache.serve()
            chain.request = cache.unconditional(chain.request)
        }
        transfer = nil
        forgetExchange()
        task.setResponse(response)
        task.publish(.usedCache(response))
        return task.plan.delegate == nil
            ? hand(stored.data, response) : .ask(storedContentQuestion(stored.data, response))
    }

    func hand(_ data: Data, _ response: SessionResponse) -> NextStep {
        do throws(SessionError) {
            try content.deliver(data, response, chain, &resumption, engine)
            return .useResponse(response)
        } catch {
            return .finishFailed(error.with(failingURL: chain.request.url, response: response))
        }
    }

    /// The content was read for an interceptor; the error that asks the retriers, or nil.
    func serialized(_ content: Shared<SerializedContent>?) -> SessionError? {
        interception.serialized(content, isStored: cache?.isServed == true)
    }

    /// The server has sent wrong bytes.
    func failRest() { resumption.failed(at: content.file?.count ?? 0) }
}
