// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import Glibc
import Reachability
import ReachabilityCore
import SessionManager

/// Carries out one `reach get` and reports the result.
struct GetTransfer: Sendable {
    let manager: URLSessionManager
    let records: GetRecords
    let request: SessionRequest
    /// What the network has to be; nil for any.
    let condition: NetworkCondition?
    let target: GetTarget
    let isResuming: Bool
    /// Whether others are fetched too, so that of a file without a part it is clear that an earlier run has
    /// fetched it.
    let isOneOfMany: Bool
    /// Other URLs of the content.
    let mirrors: [URL]
    /// Decides about further tries; nil for none.
    let retries: GetRetries?
    let checksum: [UInt8]?
    /// Whether to print the checksum.
    let wantsChecksum: Bool
    let meter: GetMeter
    /// Where the content goes if it is no file.
    let output: PacedOutput?

    /// Runs the transfer; a cancelled task ends it early and stores the part.
    func run() async -> GetReport {
        meter.begin()
        var report = GetReport(url: request.url, expected: checksum)
        report.isOneOfMany = isOneOfMany
        report.isConditional = [.ifNoneMatch, .ifModifiedSince].contains { request.headerFields[$0] != nil }
        do throws(SessionError) {
            switch target {
            case .file(let files): try await fetch(files, &report)
            case .stream(_, let name):
                report.file = name
                if checksum == nil {
                    try await relay(&report)
                } else {
                    try await check(&report)
                }
            }
        } catch {
            report.fail(error)
        }
        report.elapsed = meter.elapsed
        report.retries = meter.retries
        return report
    }

    private var options: TaskOptions {
        var options = TaskOptions()
        if let condition { options.networkCondition = condition }
        options.interceptor = retries
        options.mirrors = mirrors
        options.continuesWithoutValidator = !mirrors.isEmpty
        return options
    }

    /// Has the checksum of each server's content compared; nil where one server is asked.
    private var comparison: DownloadPlacement? {
        guard !mirrors.isEmpty, let checksum else { return nil }
        let sum = SHA256Digest.text(checksum)
        return .chosen { path, _ in DownloadDestination(path, sha256: sum) }
    }

    // MARK: To a file

    private func fetch(_ files: GetFiles, _ report: inout GetReport) async throws(SessionError) {
        if isResuming, let checksum, access(files.path, R_OK) == 0,
            try SHA256Digest.ofFile(files.path) == checksum
        {
            report.file = files.path
            report.hash = checksum
            report.wasComplete = true
            return
        }
        if isResuming, isOneOfMany, checksum == nil, files.isFinished {
            report.file = files.path
            report.wasComplete = true
            return
        }
        // Before the transfer, which may leave no address space for OpenSSL.
        let hashes = try canHash()
        try files.begin()
        let record = isResuming ? files.record(for: request.url) : nil
        do throws(SessionError) {
            do throws(SessionError) { try await receive(files, record, hashes, &report) } catch {
                // Perhaps the part was of an older version: download from the start.
                guard error.code == .checksumMismatch, report.resumedAt > 0, let record, !isStrong(record)
                else { throw error }
                report.resumedAt = 0
                try await receive(files, nil, hashes, &report)
            }
            try files.commit()
            report.file = files.path
        } catch {
            if error.code == .checksumMismatch { files.discard() } else { files.settle() }
            // The part may be of another URL: it remains, but is not continued.
            if let record = files.record(for: self.request.url) {
                report.recordPart(
                    record.receivedBytes, of: record.totalBytes, in: files.part,
                    hasValidator: checksum != nil || isStrong(record))
            }
            throw error
        }
    }

    /// Whether the checksum is wanted and OpenSSL, which computes it, is there; throws where it is needed.
    private func canHash() throws(SessionError) -> Bool {
        guard checksum != nil || wantsChecksum else { return false }
        do throws(SessionError) {
            _ = try SHA256Digest()
            return true
        } catch {
            // Without a checksum to compare it is printed where possible.
            if checksum != nil { throw error }
            return false
        }
    }

    /// Whether the missing bytes can be requested with a validator, so that no checksum is needed.
    private func isStrong(_ record: ResumeRecord) -> Bool {
        if case .restart = ResumeRules(record: record).plan { false } else { true }
    }

    /// Downloads the content into the partial file, from the start or continuing a record, and verifies it.
    private func receive(
        _ files: GetFiles, _ record: ResumeRecord?, _ hashes: Bool, _ report: inout GetReport
    ) async throws(SessionError) {
        var options = options
        options.keepsPartialFile = true
        options.partialFile = files.part
        options.isPartialFileLocked = true
        options.continuesWithoutValidator = checksum != nil
        var request = request
        // Without decompression, since ranges and checksums refer to the file on the server.
        request.options.decompressesContent = false
        let task =
            if let record {
                try manager.downloadTask(
                    resuming: record, with: request, options: options, destination: comparison)
            } else {
                try manager.downloadTask(with: request, options: options, destination: comparison)
            }
        records.follow(task, files, meter)
        let outcome = try await run(task, &report, resumedAt: record?.receivedBytes ?? 0)
        let size = files.partSize
        if let record, outcome.response?.statusCode == 206 || outcome.metrics.isEmpty {
            report.resumedAt = record.receivedBytes
        }
        report.size = size
        report.bytes = size - report.resumedAt
        if hashes { try verify(files.part, &report) }
    }

    /// Runs a download task to its end.
    private func run(
        _ task: SessionTask, _ report: inout GetReport, resumedAt offset: Int64 = 0
    ) async throws(SessionError) -> TaskOutcome {
        meter.follow(task, resumedAt: offset)
        task.resume()
        let outcome = await task.outcome()
        report.record(outcome.response, outcome.metrics)
        report.total = task.downloadProgress.totalBytes
        if let error = outcome.error {
            report.bytes = outcome.metrics.last?.bytesReceived ?? 0
            throw error
        }
        return outcome
    }

    /// Compares the checksum of a file; throws if it differs, or was not finished.
    private func verify(_ path: String, _ report: inout GetReport) throws(SessionError) {
        if comparison != nil {
            report.hash = checksum
            return
        }
        guard let hash = try SHA256Digest.ofFile(path) else {
            throw SessionError(.cancelled, "the checksum was not finished")
        }
        report.hash = hash
        if let checksum { try SHA256Digest.verify(hash, is: checksum) }
    }

    // MARK: To standard output

    /// Writes the content as it arrives.
    private func relay(_ report: inout GetReport) async throws(SessionError) {
        let (response, content) = try await accepted(&report)
        report.total = response.contentLength
        var chunks = content.makeAsyncIterator()
        while let chunk = try await chunks.next() {
            report.bytes += Int64(chunk.count)
            report.leavesLineOpen = chunk.last != UInt8(ascii: "\n")
            guard try write(chunk, &report) else { return }
        }
        report.size = report.bytes
        report.record(response, content.task.metrics)
    }

    /// The first successful answer; a refusal before it is retried if that may help.
    private func accepted(
        _ report: inout GetReport
    ) async throws(SessionError) -> (SessionResponse, ContentStream) {
        var count = 0
        while true {
            let (response, content) = try await manager.stream(for: request, options: options) {
                meter.follow($0)
            }
            report.record(response, [])
            if StatusCodes.successful.contains(response.statusCode ?? 0) { return (response, content) }
            var chunks = content.makeAsyncIterator()
            var excerpt = Data()
            while excerpt.count < 4096, let chunk = try? await chunks.next() { excerpt += chunk }
            content.task.cancel()
            let refusal = SessionError(.badServerResponse, "", response: response, data: excerpt)
            try await pause(after: refusal, response, tries: count)
            count += 1
        }
    }

    /// Waits as long as the retriers say; throws the refusal if they want no retry, or the time is over.
    private func pause(
        after refusal: SessionError, _ response: SessionResponse, tries: Int
    ) async throws(SessionError) {
        let state = RequestState(
            identifier: 0, retryCount: tries, response: response, date: Date(), instant: ContinuousClock.now)
        let delay: Duration
        switch await retries?.retry(request, state: state, after: refusal) {
        case .retry: delay = .zero
        case .retryAfter(let requested): delay = requested
        case .doNotRetry, .doNotRetryWithError, nil: throw refusal
        }
        if let limit = request.options.timeouts.total, meter.elapsed + delay > limit { throw refusal }
        let pause = min(delay, .seconds(365 * 86_400)).inNanoseconds
        guard let reactor = try? Reactor.shared, await reactor.sleep(until: Reactor.now + pause) else {
            throw SessionError(.cancelled, "the transfer was cancelled")
        }
    }

    /// Writes the content once it is complete and verified.
    private func check(_ report: inout GetReport) async throws(SessionError) {
        _ = try SHA256Digest()
        let task = try manager.downloadTask(with: request, options: options, destination: comparison)
        records.follow(task, nil, meter)
        let outcome = try await run(task, &report)
        guard let path = outcome.filePath else { return }
        defer { _ = unlink(path) }
        try verify(path, &report)
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw FileFailure.cannotRead(path, errno) }
        defer { close(file) }
        var buffer = Data(count: 1 << 16)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
            guard count >= 0 else { throw FileFailure.cannotRead(path, errno) }
            if count == 0 { break }
            report.bytes += Int64(count)
            report.leavesLineOpen = buffer[count - 1] != UInt8(ascii: "\n")
            guard try write(buffer.prefix(count), &report) else { return }
        }
        report.size = report.bytes
    }

    /// False after the reader has closed the pipe.
    private func write(_ chunk: Data, _ report: inout GetReport) throws(SessionError) -> Bool {
        let outcome = chunk.withUnsafeBytes { bytes in
            Result { () throws(SessionError) in try output?.write(bytes) }
        }
        switch try outcome.get() {
        case .written: return true
        case .readerLeft, nil: return false
        case .failed(let number):
            report.fail(FileFailure.cannotWrite(report.file ?? "standard output", number))
            return false
        }
    }
}
