// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import SessionCore

// What is decided when the head of a response has come.
extension TaskRunner: TransferObserver {
    /// Content of redirects and challenges is read to the end up to so many bytes, to keep the connection.
    static var ballast: Int64 { 64 << 10 }

    func transfer(
        _ transfer: Transfer, received head: SessionResponse
    ) throws(SessionError) -> any ContentSink {
        task.tell(.received(head))
        engine.noteVersion(of: transfer)
        reconnectDeadline = 0
        if let caching, caching.received(head, for: request) { return DiscardingSink(limit: Self.ballast) }
        if head.statusCode == 421, misdirection.isNew(canRepeat: request.body?.isRewindable != false) {
            return DiscardingSink(limit: Self.ballast)
        }
        task.note(response: head)
        expected =
            transfer.facts.isEncoded && options.decompressesContent ? nil : transfer.facts.length
        if transfer.facts.hasLocation {
            var rules = RedirectRules()
            rules.limit = engine.configuration.maximumRedirects
            switch rules.decide(request, response: head, hops: hops) {
            case .notARedirect: break
            case .failure(let error): throw error
            case .follow(let proposed): return redirect(to: proposed, head, rules)
            }
        }
        if answersChallenge(of: head) {
            // Kept: it is the response where nobody has an answer, and no file of a download where it is none that is wanted.
            if isDownload { refusedBy = task.plan.validation?(head) }
            return try memorySink()
        }
        return try sink(for: head)
    }

    private func redirect(to proposed: SessionRequest, _ head: SessionResponse, _ rules: RedirectRules)
        -> any ContentSink
    {
        let handler = task.plan.options.redirectHandler
        let delegate = task.plan.delegate
        guard handler != nil || delegate != nil else {
            next = proposed
            return DiscardingSink(limit: Self.ballast)
        }
        let gate = GateSink()
        self.gate = gate
        let (task, request) = (task, request)
        ask {
            if let handler { return await handler.redirect(to: proposed, from: request, response: head) }
            return await delegate?.task(task, willRedirectTo: proposed, from: request, response: head)
        } then: { runner, answer in
            runner.decide(gate) { runner throws(SessionError) in
                guard let answer else { return try runner.sink(for: head) }
                runner.next = try rules.admitted(answer, proposed: proposed, sent: request)
                return DiscardingSink(limit: Self.ballast)
            }
        }
        return gate
    }

    /// The place for the content of a response that is the last one.
    private func sink(for head: SessionResponse) throws(SessionError) -> any ContentSink {
        guard let delegate = task.plan.delegate else { return try finalSink(for: head) }
        let gate = self.gate ?? GateSink()
        self.gate = gate
        let task = task
        ask {
            await delegate.task(task, didReceive: head)
        } then: { runner, answer in
            runner.decide(gate) { runner throws(SessionError) in
                switch answer {
                case .allow: break
                case .cancel: throw task.cancelledError
                case .becomeDownload: runner.becomeDownload()
                }
                return try runner.finalSink(for: head)
            }
        }
        return gate
    }

    func becomeDownload() {
        guard !isDownload else { return }
        isDownload = true
        task.byteReport?.becameDownload(task)
    }

    func finalSink(for head: SessionResponse) throws(SessionError) -> any ContentSink {
        let sink = try quietSink(for: head)
        guard let report = task.byteReport, report.hearsOfBytes, !(sink is DiscardingSink) else {
            return sink
        }
        let isFile = sink is FileSink
        let progress = TransferProgress.Snapshot(
            completedBytes: offset, totalBytes: expected.map { $0 + offset })
        let engine = LoopBound(engine, to: engine.reactor)
        let transfer = transfer.map { LoopBound($0, to: engine.reactor) }
        return ReportingSink(sink, report, of: task, file: isFile ? progress : nil) {
            guard let transfer else { return }
            engine.perform { engine in engine.resume(transfer.here { $0 }) }
        }
    }

    /// The place for the content, of which nobody is told.
    private func quietSink(for head: SessionResponse) throws(SessionError) -> any ContentSink {
        if isDownload { return try downloadSink(for: head) }
        // Ranges are defined for GET alone (RFC 9110 §14.2): what the status of another method's answer says is its caller's matter.
        if request.method == .get, let error = ResumeRules.unaskedPart(request, head) { throw error }
        if let stream = task.plan.stream {
            let isComplete = try goOnReading(head, stream)
            task.plan.head?.fulfil(.success(head))
            if isComplete { return DiscardingSink(limit: Self.ballast) }
            let engine = LoopBound(engine, to: engine.reactor)
            if let transfer {
                let transfer = LoopBound(transfer, to: engine.reactor)
                stream.onResume { engine.perform { engine in engine.resume(transfer.here { $0 }) } }
            }
            return StreamSink(stream)
        }
        return try memorySink()
    }

    /// A reader who has had a part gets the rest of the same content, or an error.
    ///
    /// - Returns: whether all of it has come already.
    private func goOnReading(_ head: SessionResponse, _ stream: StreamBuffer) throws(SessionError) -> Bool {
        guard let given = task.plan.head?.given else { return false }
        let cause = lostSentence ?? "the connection was lost"
        guard let record, asksForRest else {
            // The reader knows the head, and nothing may contradict it.
            let isSame =
                head.statusCode == given.statusCode
                && head.value(forField: "etag") == given.value(forField: "etag")
            if stream.total == 0, isSame { return false }
            throw SessionError.cutOff("\(cause), and the content cannot be had from the middle on")
        }
        switch rules(record, asked: request).judge(head) {
        case .append(stream.total, _, let total):
            goingOn(from: stream.total, total: total)
            return false
        case .complete where record.receivedBytes == stream.total:
            offset = record.receivedBytes
            return true
        case .failure(let error): throw error
        case .append, .complete, .restart, .requestWhole:
            throw SessionError.cutOff("\(cause), and the content has changed")
        }
    }

    func memorySink() throws(SessionError) -> any ContentSink {
        let limit = options.maximumContentLength ?? engine.configuration.maximumContentLengthInMemory
        // The body of an error under which a download fails is a message, not a file.
        let memory = isDownload ? MemorySink(keeping: Self.ballast) : MemorySink(limit: limit)
        self.memory = memory
        return memory
    }

    /// Opens a gate by a decision, or ends the task.
    private func decide(
        _ gate: GateSink, _ decision: (TaskRunner) throws(SessionError) -> any ContentSink
    ) {
        do throws(SessionError) {
            let sink = try decision(self)
            // A further question was asked: its answer opens the gate.
            if sink === gate { return }
            try gate.open(sink)
        } catch {
            return end(error)
        }
        if let end = heldEnd {
            heldEnd = nil
            conclude(end)
        } else if let transfer {
            engine.resume(transfer)
        }
    }

    func transferReceived(_ transfer: Transfer) {
        guard !hasNext, !misdirection.isPending else { return }
        if let file { checkpoints?.note(file) }
        task.note(bytes: .received, offset + transfer.received, of: expected.map { $0 + offset })
    }

    func transfer(_ transfer: Transfer, waitsForPlace: Bool) {
        guard transfer === self.transfer else { return }
        setInLine(waitsForPlace)
    }

    func transferSent(_ transfer: Transfer) {
        task.note(bytes: .sent, transfer.body.sent, of: transfer.body.length)
    }

    func transferWaitsForBody(_ transfer: Transfer, _ reader: any BodyReader) {
        let engine = LoopBound(engine, to: engine.reactor)
        let transfer = LoopBound(transfer, to: engine.reactor)
        reader.whenReadable {
            engine.perform { engine in engine.resume(transfer.here { $0 }) }
        }
    }

    func transferEnded(_ transfer: Transfer, _ end: TransferEnd) {
        note(end.metrics)
        if let gate, !gate.isOpen, end.error == nil {
            heldEnd = end
        } else {
            conclude(end)
        }
    }
}
