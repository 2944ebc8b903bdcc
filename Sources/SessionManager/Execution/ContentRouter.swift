// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import HTTPTypes
import SessionCore

/// Where the content of the current response goes: memory, a file, a reader, or nowhere.
struct ContentRouter {
    /// What was decided when a head came.
    enum Route {
        case sink(any ContentSink)
        /// Ask the redirect handler, or the delegate, and hold the content back until the answer has come.
        case ask(DelegateDecision)
    }

    enum DelegateDecision {
        case redirect(to: SessionRequest, RedirectRules)
        case content
    }

    /// The content of redirects and challenges is read to the end up to so many bytes, to keep the
    /// connection.
    private static let ballast: Int64 = 64 << 10

    private(set) var memory: MemorySink?
    private(set) var file: FileSink?
    /// Holds the content back while a delegate decides.
    private(set) var gate: DeferredSink?
    /// Bytes of the content, where the server says so and it is not compressed.
    private(set) var expected: Int64?
    private(set) var isDownload: Bool
    /// Why a download does not take the content.
    private(set) var refusal: SessionError?

    init(_ kind: SessionTask.Kind) { isDownload = kind == .download }

    var data: Data? { memory?.data }
    /// What may be stored in a cache.
    var stored: (data: Data?, path: String?, count: Int64) {
        (memory?.data, file?.path, file?.count ?? Int64(memory?.data.count ?? 0))
    }

    /// A new exchange begins.
    mutating func forgetExchange() {
        memory = nil
        file = nil
        gate = nil
        refusal = nil
    }

    /// The file is being moved to its destination, or belongs to the next exchange.
    mutating func forgetFile() { file = nil }

    mutating func becomeDownload(_ task: SessionTask) {
        guard !isDownload else { return }
        isDownload = true
        task.byteReport?.becameDownload(task)
    }

    // MARK: The head of a response

    /// Decides about the head of a response that is not interim; nil for one whose content the task gets,
    /// which goes where ``finalSink(for:_:_:cause:_:_:_:)`` says.
    ///
    /// - Parameters:
    ///   - isChallenge: credentials may answer it.
    ///   - sockets: decide about redirects where a socket of this machine was spoken to; nil for the network.
    mutating func route(
        _ head: SessionResponse, _ facts: ResponseHeadInfo, _ chain: RequestChain,
        isChallenge: Bool, sockets: SocketCalls? = nil
    ) throws(SessionError) -> Route? {
        expected = facts.isEncoded && chain.options.decompressesContent ? nil : facts.length
        if facts.hasLocation {
            let rules = chain.redirectRules
            let decision =
                sockets?.redirect(chain.request, head, chain.redirects, rules)
                ?? rules.decide(
                    chain.request, response: head, hops: chain.redirects, secured: chain.secured)
            switch decision {
            case .notARedirect: break
            case .failure(let error): throw error
            case .follow(let proposed):
                let plan = chain.task.plan
                if plan.options.redirectHandler != nil || plan.delegate != nil {
                    return .ask(.redirect(to: proposed, rules))
                }
                chain.next = proposed
                return .sink(Self.discarding)
            }
        }
        if isChallenge {
            // Kept in memory: without an answer it is the response, and under a status that is not acceptable
            // it is no download.
            if isDownload { refusal = chain.task.plan.validation?(head) }
            return .sink(keepInMemory(chain))
        }
        return chain.task.plan.delegate == nil ? nil : .ask(.content)
    }

    /// What is thrown away, as of a redirect that is followed.
    static var discarding: DiscardingSink { DiscardingSink(limit: ballast) }

    /// Holds the content back until ``open(_:)``.
    mutating func holdBack() -> any ContentSink {
        let gate = self.gate ?? DeferredSink()
        self.gate = gate
        return gate
    }

    /// Lets the content through to where it was decided to go.
    func open(_ sink: any ContentSink) throws(SessionError) { try gate?.open(sink) }

    /// Where the content of the last response goes.
    ///
    /// - Parameters:
    ///   - cause: why an earlier exchange was interrupted; for the error of a content that cannot be
    ///     continued.
    ///   - transfer: resumed when a reader or delegate has room again; nil for a stored response.
    mutating func finalSink(
        for head: SessionResponse, _ chain: RequestChain, _ resumption: inout Resumption, cause: String?,
        _ transfer: Transfer?, _ engine: any TransferCarrier
    ) throws(SessionError) -> any ContentSink {
        let sink = try destination(of: head, chain, &resumption, cause: cause, transfer, engine)
        let task = chain.task
        guard let report = task.byteReport, report.hearsOfBytes, !(sink is DiscardingSink) else {
            return sink
        }
        let offset = resumption.offset
        let progress = TransferProgress.Snapshot(
            completedBytes: offset, totalBytes: expected.map { $0 + offset })
        let resume = Self.resume(transfer, engine)
        return ReportingSink(sink, report, of: task, file: sink is FileSink ? progress : nil) { resume?() }
    }

    /// Resumes a transfer, from any thread.
    static func resume(_ transfer: Transfer?, _ engine: any TransferCarrier) -> (@Sendable () -> Void)? {
        guard let transfer else { return nil }
        let reactor = engine.reactor
        let (turn, paused) = (LoopBound(engine.turn, to: reactor), LoopBound(transfer, to: reactor))
        return { turn.perform { turn in turn.carrier?.resume(paused.here { $0 }) } }
    }

    private mutating func destination(
        of head: SessionResponse, _ chain: RequestChain, _ resumption: inout Resumption, cause: String?,
        _ transfer: Transfer?, _ engine: any TransferCarrier
    ) throws(SessionError) -> any ContentSink {
        if isDownload { return try downloadSink(for: head, chain, &resumption) }
        // Ranges are defined for GET alone (RFC 9110 §14.2): a 206 to another method is for its caller to
        // understand.
        if head.statusCode == 206, chain.request.method == .get,
            let error = ResumeRules.unaskedPart(chain.request, head)
        {
            throw error
        }
        guard let stream = chain.task.plan.stream else { return keepInMemory(chain) }
        let isComplete = try continueReading(head, stream, chain, &resumption, cause: cause)
        chain.task.plan.head?.fulfil(.success(head))
        if isComplete { return Self.discarding }
        if let resume = Self.resume(transfer, engine) { stream.onResume(resume) }
        return StreamSink(stream)
    }

    private mutating func keepInMemory(_ chain: RequestChain) -> MemorySink {
        let limit =
            chain.options.maximumContentLength
            ?? chain.task.session.configuration.maximumContentLengthInMemory
        // The content of an error under which a download fails is a message, not a file.
        let sink = isDownload ? MemorySink(keeping: Self.ballast) : MemorySink(limit: limit)
        memory = sink
        return sink
    }

    private mutating func downloadSink(
        for head: SessionResponse, _ chain: RequestChain, _ resumption: inout Resumption
    ) throws(SessionError) -> any ContentSink {
        switch resumption.answer(head, chain) {
        case .append(let start, _, let total)?:
            guard let record = resumption.record else { break }
            let part = try resumption.part(record, chain)
            file = part
            try resumption.checkpointPart(chain)
            continueContent(from: start, total: total, chain.task, &resumption)
            return part
        case .complete?:
            guard let record = resumption.record else { break }
            file = try resumption.part(record, chain)
            return Self.discarding
        case .requestWhole(let whole)?:
            resumption.giveUp()
            chain.next = whole
            return Self.discarding
        case .failure(let error)?: throw error
        case .restart?:
            resumption.giveUp()
            // Where this is interrupted, everything is asked for: the rest would be taken for the whole.
            chain.request = ResumeRules.whole(chain.request)
        case nil: break
        }
        if let refusal = chain.task.plan.validation?(head) {
            self.refusal = refusal
            resumption.forgetOffset()
            return keepInMemory(chain)
        }
        if let error = ResumeRules.unaskedPart(chain.request, head) { throw error }
        // Before bytes are paid for that could not be kept.
        let plan = chain.task.plan
        if let known = plan.destination?.known, known.path != plan.options.partialFile,
            let obstacle = FileMove.obstacle(to: known)
        {
            chain.task.session.events.publish(.downloadMoveFailed(chain.task, obstacle))
            throw obstacle
        }
        let new = try resumption.newFile(chain)
        file = new
        try resumption.checkpointNew(head, new, chain, expected: expected)
        return new
    }

    private mutating func continueContent(
        from start: Int64, total: Int64?, _ task: SessionTask, _ resumption: inout Resumption
    ) {
        resumption.continueContent(from: start)
        expected = total.map { $0 - start }
        task.updateBytes(.received, start, of: total)
        task.byteReport?.resumed(at: start, total: total, of: task)
    }

    /// A reader that has had a part gets the rest of the same content, or an error.
    ///
    /// - Returns: whether all of it has come already.
    private mutating func continueReading(
        _ head: SessionResponse, _ stream: StreamBuffer, _ chain: RequestChain,
        _ resumption: inout Resumption,
        cause: String?
    ) throws(SessionError) -> Bool {
        guard let given = try? chain.task.plan.head?.current?.get() else { return false }
        guard let answer = resumption.answer(head, chain) else {
            // The reader knows the head, and nothing may contradict it.
            let isSame =
                head.statusCode == given.statusCode
                && head.value(forHeader: "etag") == given.value(forHeader: "etag")
            if stream.total == 0, isSame { return false }
            throw SessionError.restRefused(after: cause, status: head.statusCode)
        }
        switch answer {
        case .append(stream.total, _, let total):
            continueContent(from: stream.total, total: total, chain.task, &resumption)
            return false
        case .complete where resumption.record?.receivedBytes == stream.total:
            resumption.continueContent(from: stream.total)
            return true
        case .failure(let error): throw error
        case .append, .complete, .restart, .requestWhole:
            throw SessionError.restRefused(after: cause, status: head.statusCode)
        }
    }

    // MARK: Without an exchange

    /// A download that is complete already.
    mutating func adopt(_ part: FileSink) { file = part }

    /// Hands over content that is stored.
    mutating func deliver(
        _ data: Data, _ response: SessionResponse, _ chain: RequestChain, _ resumption: inout Resumption,
        _ engine: any TransferCarrier
    ) throws(SessionError) {
        let sink = try finalSink(for: response, chain, &resumption, cause: nil, nil, engine)
        try sink.begin(length: Int64(data.count))
        var failure: SessionError?
        data.withUnsafeBytes { bytes in
            do throws(SessionError) {
                // These sinks never return `.full`.
                _ = try sink.consume(bytes)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        chain.task.updateBytes(.received, Int64(data.count), of: Int64(data.count))
    }

    /// A challenge that nothing has answered is the response: a reader gets the content that was kept.
    func handToReader(_ response: SessionResponse, _ task: SessionTask) {
        guard let stream = task.plan.stream, let data else { return }
        task.plan.head?.fulfil(.success(response))
        if !data.isEmpty { _ = data.withUnsafeBytes { stream.put($0) } }
    }
}
