// SPDX-License-Identifier: Apache-2.0

import EventLoop
import FoundationEssentials
import HTTPTypes
import SessionCore
import SessionManager

/// One attempt to fetch the file of an entry.
///
/// The content goes into a file beside the target, with a record that a later process continues from. When it
/// is whole and its checksum is right, it is synced, gets its name, and the folder is synced; then the entry
/// notes that, the program is told, and the entry is removed. Each step that was not reached is made up by
/// the next attempt, so a kill or a loss of power at any instant costs at most what came since the last
/// sync.
struct DownloadDelivery: Sendable {
    let delivery: Delivery
    let download: StoredDownload
    let limits: OutboxLimits
    /// Notes in the outbox that the file is in its place.
    let record: @Sendable (DownloadProgress) async -> Void

    private var pending: PendingDelivery { delivery.pending }

    /// Nil if the manager was invalidated.
    func run() async -> DeliveryOutcome? {
        var outcome = DeliveryOutcome(id: pending.id, lane: pending.lane, verdict: .untried)
        var progress = DownloadProgress(struck: download.struck, total: download.total)
        outcome.wasExpensive = delivery.isExpensive
        // It does not wait any more for what it waited for, whatever comes of the attempt.
        outcome.download = progress
        if let bytes = download.placed { return await report(outcome, progress, bytes) }
        let folder: TargetFolder
        switch await FileThread.run({ [self] in prepare() }) {
        case .failure(let verdict):
            outcome.verdict = verdict.value
            return outcome
        case .success(.placed(let bytes)): return await report(outcome, progress, bytes, isNew: true)
        case .success(.shortfall(let sentence)):
            progress.hold = sentence
            outcome.download = progress
            return outcome
        case .success(.ready(let ready)): folder = ready
        }
        let urls = urls
        let strikes = MirrorStrikes(urls, struck: download.struck)
        let (request, secrets): (SessionRequest, [String])
        do throws(OutboxFailureError) {
            (request, secrets) = try await self.request(strikes.open.first ?? urls[0])
        } catch {
            outcome.verdict = error.failure.isPassing ? .retry(error.failure) : .dead(error.failure)
            return outcome
        }
        let watch = DownloadWatch(strikes, folder, download.part) { error, response in judge(error, response)
        }
        let exchange: TaskOutcome
        do throws(SessionError) { exchange = try await fetch(request, strikes, folder, watch) } catch {
            if error.code == .invalidated { return nil }
            outcome.verdict = DeliveryVerdict(download: error, statusCode: nil)
            return outcome
        }
        outcome.local = exchange.metrics.last?.local?.address
        outcome.traffic = Delivery.traffic(of: exchange, request)
        outcome.reply = reply(exchange.response, secrets)
        if let error = exchange.error {
            await settle(error, exchange, watch, &outcome, &progress)
            return outcome
        }
        let result = await FileThread.run { [self] in install(folder) }
        switch result {
        case .failure(let verdict):
            outcome.verdict = verdict.value
            return outcome
        case .success(let bytes): return await report(outcome, progress, bytes, isNew: true)
        }
    }

    // MARK: The transfer

    /// The request's own URL and its mirrors.
    private var urls: [URL] {
        ([pending.url] + download.mirrors).compactMap { URL(string: $0, encodingInvalidCharacters: false) }
    }

    private func request(_ url: URL) async throws(OutboxFailureError) -> (SessionRequest, [String]) {
        let secrets: [String]
        var request: SessionRequest
        (request, secrets) = try await delivery.request()
        request.headerFields[.idempotencyKey] = nil
        request.options.sensitiveFields += pending.secrets.compactMap { HTTPField.Name($0.name) }
        // The first URL may have been struck; what is secret stays with its own.
        if request.url != url { request = request.moved(to: url) }
        // The checksum and ranges are of the file as it is on the server.
        request.options.decompressesContent = false
        request.options.maximumContentLength = limits.maximumDownloadSize
        request.options.maximumBytesPerSecond = request.options.maximumUploadBytesPerSecond
        return (request, secrets)
    }

    private func fetch(
        _ request: SessionRequest, _ strikes: MirrorStrikes, _ folder: TargetFolder, _ watch: DownloadWatch
    ) async throws(SessionError) -> TaskOutcome {
        var options = TaskOptions()
        options.networkCondition = delivery.uplink == nil ? pending.condition : .any
        options.isIdempotent = true
        options.redirectHandler = DownloadRedirects(isChecked: download.sha256 != nil)
        options.partialFile = folder.path(of: download.part)
        options.resumeFile = folder.path(of: TargetFolder.record(of: download.part))
        options.continuesWithoutValidator = download.sha256 != nil
        options.mirrors = Array(strikes.open.dropFirst())
        let managerTask = delivery.managerTask
        options.downloadProgress = { managerTask.onProgress($0.completedBytes, $0.totalBytes) }
        options.progressQueue = .onLoop(delivery.reactor)
        let part = folder.path(of: download.part)
        let task = try delivery.manager.storedDownloadTask(
            with: request, options: options,
            // It stays where it is: its name is given later.
            destination: .file(DownloadDestination(part, sha256: download.sha256)), monitor: watch.monitor)
        let endObserving = managerTask.began(task)
        defer { endObserving() }
        task.resume()
        return await task.outcome()
    }

    private func judge(_ error: SessionError, _ response: SessionResponse?) -> DeliveryVerdict {
        let response = response ?? error.response
        return DeliveryVerdict(
            download: error, statusCode: response?.statusCode, fillsSecrets: !pending.secrets.isEmpty,
            asksForLater: response.flatMap { RetryAfter.delay(in: $0, now: HTTPDate(Date())) } != nil)
    }

    /// The attempt has failed, or there is no room.
    private func settle(
        _ error: SessionError, _ exchange: TaskOutcome, _ watch: DownloadWatch,
        _ outcome: inout DeliveryOutcome, _ progress: inout DownloadProgress
    ) async {
        let response = exchange.response
        progress.total = watch.total ?? progress.total
        outcome.download = progress
        if let shortfall = watch.shortfall {
            outcome.download?.hold = shortfall
            return
        }
        if FileFailure.isDiskFull(error) {
            outcome.download?.hold = DownloadRoom.exhausted(
                after: exchange.metrics.last?.bytesReceived ?? 0)
            return
        }
        if error.code == .cancelled || error.code == .invalidated { return }
        watch.ended(error, response, isOnly: watch.strikes.open.count <= 1)
        outcome.download?.struck = watch.strikes.struck
        outcome.verdict = watch.strikes.verdict
        outcome.retryAfter = response.flatMap { RetryAfter.delay(in: $0, now: HTTPDate(Date())) }
        if case .retry(let failure) = outcome.verdict, failure.kind == .credentials {
            await delivery.secretsRefused()
        }
    }

    private func reply(_ response: SessionResponse?, _ secrets: [String]) -> OutboxReply? {
        guard let response, let status = response.statusCode else { return nil }
        let head = Delivery.head(SecretMask.masked(response.headerBlock, secrets))
        return OutboxReply(statusCode: status, header: head, body: Data())
    }

    // MARK: The file

    private enum Preparation: Sendable {
        case ready(TargetFolder)
        /// An earlier attempt has put the file where it belongs.
        case placed(Int64)
        case shortfall(String)
    }

    /// A verdict as an error.
    private struct Verdict: Error { let value: DeliveryVerdict }

    private func prepare() -> Result<Preparation, Verdict> {
        do throws(OutboxError) {
            let path = try DownloadPath(download.path, below: limits.downloadFolders)
            do throws(TargetFolder.Fault) {
                let folder = try TargetFolder(path, owner: download.owner)
                try folder.checkTarget()
                return .success(try prepare(folder))
            } catch { return .failure(Verdict(value: error.verdict)) }
        } catch { return .failure(Verdict(value: .dead(OutboxFailure(.unsendable, error.description)))) }
    }

    private func prepare(_ folder: TargetFolder) throws(TargetFolder.Fault) -> Preparation {
        let part = folder.size(download.part)
        if let sha256 = download.sha256 {
            // Killed after the rename; or the content is there already.
            if part == nil, let size = folder.targetSize, isRight(folder, folder.path.name, sha256) {
                try folder.settle(download.part, mode: download.mode)
                return .placed(size)
            }
            // Killed after the last byte, when its record was removed.
            if let part, part > 0, !folder.contains(TargetFolder.record(of: download.part)),
                isRight(folder, download.part, sha256)
            {
                try folder.install(download.part, mode: download.mode)
                return .placed(part)
            }
        }
        if let total = download.total, let shortfall = folder.room?.shortfall(of: total - (part ?? 0)) {
            return .shortfall(shortfall)
        }
        try folder.begin(download.part)
        return .ready(folder)
    }

    private func isRight(_ folder: TargetFolder, _ name: String, _ sha256: String) -> Bool {
        guard let file = try? folder.opened(name),
            let hash = try? SHA256Digest.ofFile("/proc/self/fd/\(file.number)")
        else { return false }
        return SHA256Digest.text(hash) == sha256
    }

    private func install(_ folder: TargetFolder) -> Result<Int64, Verdict> {
        let size = folder.size(download.part) ?? 0
        do throws(TargetFolder.Fault) {
            try folder.install(download.part, mode: download.mode)
            return .success(size)
        } catch { return .failure(Verdict(value: error.verdict)) }
    }

    /// Notes that the file is in its place, and tells the program of it.
    private func report(
        _ outcome: DeliveryOutcome, _ progress: DownloadProgress, _ bytes: Int64, isNew: Bool = false
    ) async -> DeliveryOutcome {
        var (outcome, progress) = (outcome, progress)
        progress.placed = bytes
        if isNew { await record(progress) }
        outcome.download = progress
        guard let handler = delivery.configuration.downloadHandler else {
            outcome.verdict = .delivered(statusCode: outcome.reply?.statusCode ?? 200)
            return outcome
        }
        let shown = URL(string: pending.url, encodingInvalidCharacters: false)?.textWithoutUser ?? pending.url
        let file = FetchedFile(
            id: pending.id, path: download.path, url: shown, sha256: download.sha256, bytes: bytes)
        if await handler(file) {
            outcome.verdict = .delivered(statusCode: outcome.reply?.statusCode ?? 200)
        } else {
            outcome.download?.hold = "the file is there, and its program has not been told yet"
        }
        return outcome
    }
}
