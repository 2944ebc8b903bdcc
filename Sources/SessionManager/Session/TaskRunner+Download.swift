// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import HTTPTypes
import SessionCore

// Downloads: where the content goes, and going on with what an earlier one has left.
extension TaskRunner {
    /// Goes on with an earlier download.
    func resume(_ record: ResumeRecord, base: SessionRequest) {
        follow(rules(record, base: base).plan, record)
    }

    /// Whether the bytes are compared with a checksum at the end.
    var isChecked: Bool { task.boxedPlan.value.options.goesOnWithoutValidator }

    /// The rules for going on with what a record tells of.
    func rules(_ record: ResumeRecord, base: SessionRequest) -> ResumeRules {
        ResumeRules(record: record, base: base, isChecked: isChecked)
    }

    /// The rules for the answer to a request for what is missing.
    func rules(_ record: ResumeRecord, asked request: SessionRequest) -> ResumeRules {
        ResumeRules(record: record, asked: request, isChecked: isChecked)
    }

    private func follow(_ plan: ResumePlan, _ record: ResumeRecord) {
        self.record = record
        switch plan {
        case .complete:
            let response = SessionResponse(url: record.url, statusCode: 200)
            guard isDownload else { return complete(TaskOutcome(response: task.response ?? response)) }
            do throws(SessionError) {
                let file = try partialFile(record)
                self.file = file
                finishDownload(file, response)
            } catch {
                complete(TaskOutcome(error: error))
            }
        case .resume(let request):
            do throws(SessionError) {
                // Before anything is sent: a record may tell of bytes that are not there.
                if isDownload { continued = try partialFile(record) }
            } catch {
                return complete(TaskOutcome(error: error.with(failingURL: record.url)))
            }
            self.request = request
            // So much is there also while nothing of the rest has come.
            offset = record.receivedBytes
            exchange()
        case .restart(let request):
            giveUpRecord()
            self.request = request
            exchange()
        }
    }

    /// What an earlier process has left of the download.
    var resumeFileRecord: ResumeRecord? { isDownload ? checkpoints?.file.record(for: request) : nil }

    /// The content is wanted as it is on the server: that is what ranges count.
    func preferPlainContent() {
        guard isDownload, checkpoints != nil, request.headerFields[.acceptEncoding] == nil else { return }
        request.headerFields[.acceptEncoding] = "identity"
    }

    /// A new file gets the content from its beginning: a later process is told of that.
    private func beginCheckpoints(_ head: SessionResponse, _ file: FileSink) throws(SessionError) {
        guard let checkpoints else { return }
        var asked = request
        asked.headerFields[.range] = nil
        guard ResumeRules.canRecord(asked, response: head, isChecked: isChecked),
            let record = try? ResumeRecord(
                request: recordedRequest, response: head, receivedBytes: 0, totalBytes: expected,
                partialFile: file.path)
        else { return checkpoints.forget() }
        try checkpoints.begin(record)
    }

    /// Whether the records of this download are of what was asked for before redirects: not where those have made a GET of something
    /// else, which has to be gone on with where they have led.
    var recordsBeforeRedirects: Bool { askedFor.method == request.method }

    /// The request that records are made of.
    var recordedRequest: SessionRequest { recordsBeforeRedirects ? askedFor : request }

    /// The file with what has come so far: still open where this task received it.
    private func partialFile(_ record: ResumeRecord) throws(SessionError) -> FileSink {
        if let continued {
            self.continued = nil
            return continued
        }
        return try FileSink(continuing: record, limit: options.maximumContentLength)
    }

    /// The place for a download's content.
    func downloadSink(for head: SessionResponse) throws(SessionError) -> any ContentSink {
        let limit = options.maximumContentLength
        if let record, asksForRest {
            switch rules(record, asked: request).judge(head) {
            case .append(let start, _, let total):
                let file = try partialFile(record)
                self.file = file
                if task.plan.record == nil {
                    checkpoints?.goOn(record)
                } else {
                    try checkpoints?.begin(record)
                }
                goingOn(from: start, total: total)
                return file
            case .complete:
                file = try partialFile(record)
                return DiscardingSink(limit: Self.ballast)
            case .requestWhole(let whole):
                giveUpRecord()
                next = whole
                return DiscardingSink(limit: Self.ballast)
            case .failure(let error): throw error
            case .restart:
                giveUpRecord()
                // Where this is interrupted, everything is asked for: the rest would be taken for the whole.
                self.request = ResumeRules.whole(request)
            }
        }
        if let refusal = task.plan.validation?(head) {
            refusedBy = refusal
            offset = 0
            return try memorySink()
        }
        if let error = ResumeRules.unaskedPart(request, head) { throw error }
        offset = 0
        // The file that was received in vain is written anew.
        let former = continued
        continued = nil
        former?.keep()
        let path = former?.path ?? (beginsAnew ? task.plan.record?.partialFile : nil)
        let named = task.plan.options.partialFile ?? checkpoints?.file.partialFile
        let file = try FileSink(path: path ?? named, limit: limit)
        self.file = file
        try beginCheckpoints(head, file)
        return file
    }

    func goingOn(from start: Int64, total: Int64?) {
        offset = start
        expected = total.map { $0 - start }
        task.note(bytes: .received, start, of: total)
        task.byteReport?.resumed(at: start, total: total, of: task)
    }

    /// After a response for missing bytes: whether it was not all of them, and the task asks for the rest or fails.
    func goesOnForRest(_ response: SessionResponse) -> Bool {
        guard response.statusCode == 206, asksForRest, refusedBy == nil, let record, let transfer else {
            return false
        }
        let rules = self.rules(record, asked: request)
        let count = file?.count ?? offset + transfer.received
        switch rules.ended(response, at: count) {
        case .complete: return false
        case .failure(let error):
            // Where too much has come, nobody can go on from there.
            if count > record.receivedBytes { keepsPartialFile = false }
            fail(error)
        case .goOn(let longer):
            continued = file
            self.transfer = nil
            // Where redirects have led: the same server has the next piece.
            follow(self.rules(longer, asked: request).plan, longer)
        }
        return true
    }

    /// What a later download can go on from; nil where the server does not allow that.
    func record(of file: FileSink, _ response: SessionResponse?) -> ResumeRecord? {
        if let record { return try? record.with(receivedBytes: file.count) }
        var asked = request
        // A server that sends the whole has not heeded it.
        asked.headerFields[.range] = nil
        guard let response, file.count > 0,
            ResumeRules.canRecord(asked, response: response, isChecked: isChecked)
        else {
            return nil
        }
        return try? ResumeRecord(
            request: recordedRequest, response: response, receivedBytes: file.count, totalBytes: expected,
            partialFile: file.path)
    }

    /// Moves a complete file to where it belongs.
    func finishDownload(_ file: FileSink, _ response: SessionResponse) {
        let (task, path, number) = (task, file.path, file.release())
        let (delegate, destination) = (task.plan.delegate, task.plan.destination)
        let resumeFile = checkpoints?.file
        ask { () async -> Result<String, SessionError> in
            if let number,
                let error = await FileThread.run({
                    FileSink.close(number, path, isSynced: resumeFile != nil)
                })
            {
                return .failure(error)
            }
            let wanted = await delegate?.task(task, didFinishDownloadingTo: path, response: response)
            guard let wanted = wanted ?? destination?(path, response) else {
                // Behind what is being written to it.
                if let resumeFile { await FileThread.run { resumeFile.remove() } }
                return .success(path)
            }
            if let error = await FileThread.run({ FileMove.move(path, to: wanted) }) {
                task.session.events.publish(.downloadMoveFailed(task, error))
                return .failure(error)
            }
            if let resumeFile { await FileThread.run { resumeFile.remove() } }
            task.session.events.publish(.downloadMoved(task, path: wanted.path))
            task.tell(.moved(path: wanted.path))
            return .success(wanted.path)
        } then: { runner, result in
            switch result {
            case .success(let path):
                file.keep()
                runner.complete(TaskOutcome(response: response, filePath: path))
            case .failure(let error):
                runner.complete(
                    TaskOutcome(response: response, error: error.with(failingURL: runner.request.url)))
            }
        }
    }
}
