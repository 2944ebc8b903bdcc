// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import HTTPTypes
import SessionCore

/// What has come of a content already, and how the rest of it is asked for: after a lost path, in another
/// try, or by a later process.
struct Resumption: ~Copyable {
    /// Written down for a later process; nil where that is not wanted.
    let checkpoints: DownloadCheckpoints?
    private var known: Shared<ResumeRecord>?
    /// The task was made with a record, which has not turned out to be useless.
    private var hasGivenRecord: Bool
    /// The task was made with a record that was useless.
    private(set) var isAnew = false
    /// The file with what has come so far, still open.
    private(set) var openPart: FileSink?
    /// Whether an incomplete download is of use to the caller.
    private var keepsPart: Bool
    /// Bytes of the content that came before the exchange under way.
    private(set) var offset: Int64 = 0

    init(_ task: SessionTask, on reactor: Reactor) {
        // Read in place: a plan is much to copy.
        let plan = task.sharedPlan
        let hasFile = plan.value.options.resumeFile != nil
        checkpoints = hasFile ? DownloadCheckpoints(plan.value.options, reactor: reactor) : nil
        keepsPart = plan.value.options.keepsPartialFile || hasFile
        known = plan.value.record.map { Shared($0) }
        hasGivenRecord = known != nil
    }

    var record: ResumeRecord? { known?.value }

    /// Whether the current request is for the missing bytes of an interrupted content.
    func asksForRest(_ request: SessionRequest) -> Bool {
        known != nil && request.headerFields[.range] != nil
    }

    // MARK: Before an exchange

    /// The content is wanted as it is on the server, since ranges count its bytes.
    func preferPlainContent(_ chain: RequestChain, isDownload: Bool) {
        guard isDownload, checkpoints != nil || chain.mirrors != nil,
            chain.request.headerFields[.acceptEncoding] == nil
        else {
            return
        }
        chain.request.headerFields[.acceptEncoding] = "identity"
    }

    /// How a try begins that continues with something; nil where there is nothing.
    mutating func beginning(_ chain: RequestChain, isDownload: Bool) -> ResumePlan? {
        guard known != nil || hasGivenRecord || isAnew || checkpoints != nil else { return nil }
        let given = chain.task.plan.record
        if known != nil || hasGivenRecord, let record = record ?? given {
            return plan(chain.atMirror(record), base: chain)
        }
        if given == nil, isDownload, let record = checkpoints?.file.record(for: chain.request) {
            return plan(record, base: chain)
        }
        guard isAnew, let given else { return nil }
        return .restart(chain.rules(toContinue: chain.atMirror(given)).whole)
    }

    /// How to continue with the record of the interrupted content.
    mutating func planAfterInterruption(_ chain: RequestChain) -> ResumePlan? {
        record.map { plan($0, base: chain) }
    }

    private mutating func plan(_ record: ResumeRecord, base chain: RequestChain) -> ResumePlan {
        known = Shared(record)
        return chain.rules(toContinue: record).plan
    }

    /// The missing bytes are about to be asked for.
    ///
    /// - Throws: before anything is sent, where the record counts bytes that are not there.
    mutating func prepare(isDownload: Bool, _ chain: RequestChain) throws(SessionError) {
        guard let record else { return }
        if isDownload { openPart = try part(record, chain) }
        offset = record.receivedBytes
    }

    /// Resuming is impossible: everything is asked for, and overwrites the partial file.
    mutating func giveUp() {
        known = nil
        isAnew = isAnew || hasGivenRecord
        hasGivenRecord = false
    }

    /// The file with what has come so far: still open where this task received it.
    mutating func part(_ record: ResumeRecord, _ chain: RequestChain) throws(SessionError) -> FileSink {
        if let openPart = openPart.take() { return openPart }
        return try FileSink(
            continuing: record, limit: chain.options.maximumContentLength,
            locks: !chain.task.plan.options.isPartialFileLocked)
    }

    // MARK: The head of a response

    /// What the response to a request for missing bytes means; nil where it is about the whole.
    func answer(_ head: SessionResponse, _ chain: RequestChain) -> ResumeAnswer? {
        guard let record, asksForRest(chain.request) else { return nil }
        return chain.rules(afterAskingFor: record).judge(head)
    }

    /// The content of the response is appended to what has come.
    mutating func continueContent(from start: Int64) { offset = start }

    /// The record of what is appended to is in the file, or is written now.
    func checkpointPart(_ chain: RequestChain) throws(SessionError) {
        guard let record else { return }
        if chain.task.plan.record == nil {
            checkpoints?.resume(record)
        } else {
            try checkpoints?.begin(record)
        }
    }

    /// A new file for the content from its beginning: the one that was received in vain is overwritten.
    mutating func newFile(_ chain: RequestChain) throws(SessionError) -> FileSink {
        offset = 0
        let former = openPart.take()
        if let former, try former.empty() { return former }
        former?.keep()
        let path = former?.path ?? (isAnew ? chain.task.plan.record?.partialFile : nil)
        let named = chain.task.plan.options.partialFile ?? checkpoints?.file.partialFile
        return try FileSink(
            path: path ?? named, limit: chain.options.maximumContentLength,
            locks: !chain.task.plan.options.isPartialFileLocked)
    }

    /// A new file receives the content; its record is written where a later process could continue it.
    func checkpointNew(
        _ head: SessionResponse, _ file: FileSink, _ chain: RequestChain, expected: Int64?
    ) throws(SessionError) {
        guard let checkpoints else { return }
        guard let record = chain.resumeRecord(of: head, bytes: 0, expected, file.path) else {
            return checkpoints.forget()
        }
        try checkpoints.begin(record)
    }

    mutating func forgetOffset() { offset = 0 }

    // MARK: Interruptions

    /// How far the exchange under way is, and what may follow it.
    func progress(
        _ transfer: Transfer, _ content: borrowing ContentRouter, _ chain: RequestChain, isChallenge: Bool
    )
        -> ExchangeProgress
    {
        var facts = Interruption(isIdempotent: chain.isIdempotent)
        facts.hasBegun = transfer.hasLeft || transfer.body.sent > 0
        facts.isWhollySent = transfer.body.isSent
        facts.hasHead = transfer.response != nil
        facts.isPreliminary = chain.hasNext || chain.isMisdirected || isChallenge
        if let file = content.file {
            facts.content = .file(bytes: file.count)
        } else if chain.task.plan.stream != nil {
            facts.content = .reader(bytes: offset + transfer.content.count)
        }
        facts.canContinue = current(transfer, content, chain).map { chain.canResume($0) } ?? false
        var progress = ExchangeProgress(facts)
        progress.hasRedirect = chain.hasNext
        progress.isBodySpent = chain.isBodySpent(by: transfer)
        return progress
    }

    /// The record of what has come until now; nil where the server does not allow to continue.
    func current(_ transfer: Transfer, _ content: borrowing ContentRouter, _ chain: RequestChain)
        -> ResumeRecord?
    {
        if let file = content.file { return record(of: file, transfer.response, chain, content.expected) }
        guard chain.task.plan.stream != nil else { return nil }
        let count = offset + transfer.content.count
        if let record { return try? record.with(receivedBytes: count) }
        guard count > 0, let head = transfer.response else { return nil }
        return chain.resumeRecord(of: head, bytes: count, content.expected, nil)
    }

    private func record(
        of file: FileSink, _ response: SessionResponse?, _ chain: RequestChain, _ expected: Int64?
    ) -> ResumeRecord? {
        if let record { return try? record.with(receivedBytes: file.count) }
        guard let response, file.count > 0 else { return nil }
        return chain.resumeRecord(of: response, bytes: file.count, expected, file.path)
    }

    /// The exchange ended early; its content is continued, or its request is sent again.
    mutating func interrupted(
        _ step: RequestStateMachine.Step, _ transfer: Transfer, _ content: borrowing ContentRouter,
        _ chain: RequestChain
    ) {
        if step == .range {
            known = current(transfer, content, chain).map { Shared($0) }
            openPart = content.file
            return
        }
        // A request for missing bytes is sent again as it is; otherwise what has come is useless, and the
        // same file receives it anew.
        if !asksForRest(chain.request) { known = nil }
        openPart = content.file ?? openPart
    }

    /// Whether another try can serve a reader: with the rest of the content of which it has a part, or from
    /// the beginning.
    mutating func serves(
        _ stream: StreamBuffer, _ transfer: Transfer?, _ content: borrowing ContentRouter,
        _ chain: RequestChain
    ) -> Bool {
        let total = stream.total
        guard total > 0 else { return true }
        let known = transfer.map { current($0, content, chain) } ?? record
        guard let known, known.receivedBytes == total else { return false }
        self.known = Shared(known)
        return chain.canResume(known)
    }

    // MARK: Other tries

    /// What another try of a download continues with; nil where it begins anew, as where nothing would show
    /// whether the rest belongs to it.
    func recordForNextTry(
        after failure: SessionError.Code, _ transfer: Transfer?, _ content: borrowing ContentRouter,
        _ chain: RequestChain
    ) -> ResumeRecord? {
        guard content.isDownload, chain.task.plan.stream == nil, let transfer,
            InterruptionRules.canContinueInNextTry(after: failure, status: transfer.response?.statusCode)
        else { return nil }
        guard let known = content.file == nil ? record : current(transfer, content, chain),
            case .resume = chain.rules(toContinue: known).plan
        else { return nil }
        return known
    }

    mutating func beginTry(with record: ResumeRecord?, _ content: borrowing ContentRouter, hasReader: Bool) {
        let file = content.file ?? openPart
        if let record {
            openPart = file
            known = Shared(record)
            return
        }
        openPart = nil
        if checkpoints != nil {
            // A later process continues with the file that the resume file names.
            file?.keep()
        } else if hasGivenRecord {
            file?.discard()
        } else {
            // The next content overwrites it: others may have opened the file that they have named.
            openPart = file
        }
        // A file that is begun anew continues nothing; a reader has what has come.
        if !hasReader {
            known = nil
            offset = 0
        }
    }

    // MARK: The end

    /// What the end of a partial response means; `complete` where it was about the whole.
    func describeEnd(
        of response: SessionResponse, _ transfer: Transfer?, _ content: borrowing ContentRouter,
        _ chain: RequestChain
    ) -> ResumeEnd {
        guard response.statusCode == 206, content.refusal == nil, let record, let transfer,
            asksForRest(chain.request)
        else { return .complete }
        return chain.rules(afterAskingFor: record).ended(
            response, at: content.file?.count ?? offset + transfer.content.count)
    }

    /// The server has sent a part of the missing bytes, which the longer record counts; the URL to which
    /// redirects have led has the next part.
    mutating func planForRest(
        _ longer: ResumeRecord, _ content: borrowing ContentRouter, _ chain: RequestChain
    ) -> ResumePlan {
        openPart = content.file
        known = Shared(longer)
        return chain.rules(afterAskingFor: longer).plan
    }

    /// The server has sent wrong bytes: a file with too many of them cannot be continued.
    mutating func failed(at count: Int64) {
        if let record, count > record.receivedBytes { keepsPart = false }
    }

    /// The task ends with a file: the record of an incomplete download, where the caller wants one; a file
    /// without a record is removed.
    func finish(
        _ file: FileSink, _ failure: SessionError?, _ response: SessionResponse?,
        _ content: borrowing ContentRouter, _ chain: RequestChain
    ) -> ResumeRecord? {
        // To continue content with a wrong checksum would end with the same one.
        let isWrong = failure?.code == .checksumMismatch
        let isOfUse = failure.map { _ in keepsPart && !isWrong } ?? false
        let record = isOfUse ? record(of: file, response, chain, content.expected) : nil
        if record != nil {
            file.keep()
        } else {
            if isWrong { file.remove() } else { file.discard() }
            checkpoints?.forget()
        }
        return record
    }
}
